#include "options_working_sets.hpp"

#include <CLI/CLI.hpp>

#include "mtuscope/core/error.hpp"
#include "option_kinds.hpp"
#include "parse.hpp"

namespace mtuscope::cli {
namespace {

/// One word of a core enumeration.
template <class Enum>
Enum one_word(const std::string& text, std::string_view known) {
  const auto words = parse_words<Enum>(text, known);
  if (words.size() != 1) throw ConfigError{"takes one of " + std::string{known}};
  return words.front();
}

std::vector<std::uint64_t> byte_counts(const std::string& text) {
  std::vector<std::uint64_t> values;
  for (const auto& part : split_commas(text)) values.push_back(sweep::parse_bytes(part));
  return values;
}

/// Counts are numbers, not bytes: 4K blocks would be read as 4000 by some.
std::vector<std::uint64_t> plain_counts(const std::string& text) {
  for (const auto& part : split_commas(text)) {
    if (part.empty() || part.find_first_not_of("0123456789") != std::string::npos) {
      throw ConfigError{"\"" + part + "\" is no number of blocks; write 8,4000"};
    }
  }
  return byte_counts(text);
}

std::vector<Pass> passes_of(const std::string& text) {
  if (text == "up") return {Pass::up};
  if (text == "down") return {Pass::down};
  if (text == "both") return {Pass::up, Pass::down};
  throw ConfigError{"takes one of up, down, both, not \"" + text + "\""};
}

}  // namespace

void add_working_sets(CLI::App& app, SweepOptions& options) {
  auto& blocks = options.blocks;
  auto* counts =
      add_parsed(app, "--blocks", "registered blocks that messages cycle through; lists (default: one buffer)",
                 [&blocks](const std::string& text) { blocks.counts = plain_counts(text); });
  add_parsed(app, "--block-size", "size of a block; lists",
             [&blocks](const std::string& text) { blocks.sizes_bytes = byte_counts(text); })
      ->default_str("32K")
      ->needs(counts);
  add_parsed(app, "--order", "order in which blocks are reused: fifo, lifo, random, sawtooth; lists",
             [&blocks](const std::string& text) {
               blocks.orders = parse_words<ReuseOrder>(text, "fifo, lifo, random, sawtooth");
             })
      ->default_str("fifo")
      ->needs(counts);
  add_optional_integer(app, "--in-flight", "messages in flight with --blocks: its --tx-depth (default: 8)",
                       blocks.in_flight, {1, 32768});
  app.get_option("--in-flight")->needs(counts)->excludes("--tx-depth");
  add_parsed(app, "--mr", "memory regions of the blocks: one, per-block",
             [&blocks](const std::string& text) { blocks.mr_mode = one_word<MrMode>(text, "one, per-block"); })
      ->default_str("one")
      ->needs(counts);
  add_parsed(app, "--pages", "pages of the blocks' memory: 4K, 2M, 1G",
             [&blocks](const std::string& text) { blocks.page_size_bytes = sweep::parse_bytes(text); })
      ->default_str("4K")
      ->needs(counts);
  add_integer(app, "--alias", "addresses under which the same physical pages appear as different blocks",
              blocks.alias_count, {1, std::uint64_t{1} << 20U});
  app.get_option("--alias")->needs(counts);
  add_parsed(
      app, "--side", "which end cycles through blocks: source, destination, both",
      [&blocks](const std::string& text) { blocks.side = one_word<BufferSide>(text, "source, destination, both"); })
      ->default_str("both")
      ->needs(counts);
  add_parsed(app, "--direction",
             "message sizes one after another, up, down or both, with --messages each (16000 by default) and nothing "
             "between them (default: random order)",
             [&options](const std::string& text) { options.spec.passes = passes_of(text); });
}

}  // namespace mtuscope::cli
