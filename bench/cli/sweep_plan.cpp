#include "sweep_plan.hpp"

#include <algorithm>

#include "mtuscope/analysis/laws.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/reference/tables.hpp"
#include "mtuscope/transport/stream_kernel.hpp"
#include "parse.hpp"
#include "placement.hpp"

namespace mtuscope::cli {
namespace {

constexpr std::string_view kPostedPrefix = "posted:";
constexpr std::string_view kDefaultWord = "default";
/// Of a matrix, which has many pairs: latency, one or two packets, bandwidth.
constexpr std::string_view kPairSizes = "64,4K,1M";

/// Runs a parser of the library and puts the option's name in front of what it complains about.
template <class Parser>
auto parse_option(const char* option, Parser parser) {
  try {
    return parser();
  } catch (const ConfigError& error) {
    const std::string what = error.what();
    if (what.starts_with("--")) throw;
    throw ConfigError{std::string{option} + ": " + what};
  }
}

std::vector<PathMtu> default_path_mtus(const Backend& backend) {
  std::vector<PathMtu> mtus{PathMtu::mtu1024, PathMtu::mtu2048};
  const auto environment = backend.environment();
  if (!environment.device || !environment.port_number) return mtus;
  for (const auto& port : environment.device->ports) {
    if (port.number == *environment.port_number && port.active_mtu) mtus.push_back(*port.active_mtu);
  }
  std::sort(mtus.begin(), mtus.end());
  mtus.erase(std::unique(mtus.begin(), mtus.end()), mtus.end());
  return mtus;
}

std::vector<std::uint64_t> sizes_of(const std::string& text, const sweep::SweepSpec& spec) {
  std::vector<std::uint64_t> sizes;
  std::string plain;
  const auto add = [&sizes](const std::vector<std::uint64_t>& more) {
    sizes.insert(sizes.end(), more.begin(), more.end());
  };
  for (const auto& part : split_commas(text)) {
    if (part == kDefaultWord) {
      add(sweep::default_sizes(spec.path_mtus));
    } else if (part.starts_with(kPostedPrefix)) {
      add(posted_sizes(std::string_view{part}.substr(kPostedPrefix.size()), spec));
    } else {
      add(sweep::parse_sizes(part));
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

bool is_mpi(const Backend& backend) { return backend.name() == "mpi"; }

/// What the equations of a model are of.
Connection default_connection(const Backend& backend) {
  if (backend.name().starts_with("model:lanai")) return Connection::gm;
  if (backend.name() == "model:connectx2") return Connection::rc;
  if (backend.source() == Source::model || is_mpi(backend)) return Connection::mpi;
  return backend.needs_peer() ? Connection::rc : Connection::none;
}

bool has_mpi(const sweep::SweepSpec& spec) {
  return std::find(spec.connections.begin(), spec.connections.end(), Connection::mpi) != spec.connections.end();
}

/// The other end may be on this host whatever its address says, and two spinning ends would starve each other. A
/// launcher of MPI binds each rank to a CPU of its own.
bool ends_may_share_a_cpu(const SweepOptions& options) {
  return (options.by_mpi ? online_cpu_count() : usable_cpu_count()) < 2;
}

/// MPI takes its path MTU at launch; its receives are those of two windows.
void complete_mpi(const SweepOptions& options, sweep::SweepSpec& spec) {
  constexpr std::uint32_t kWindow = 64;  // as OSU's bandwidth tests
  if (!options.path_mtus && !options.launched) spec.path_mtus = {};
  if (spec.path_mtus.size() > 1 && !options.launched) {
    throw ConfigError{
        "--mtu: an MPI library takes its path MTU at launch: give the one it was launched with, or use mtuscope mpi, "
        "which launches once for each"};
  }
  if (!options.tx_depth_given) spec.tx_depth = kWindow;
  spec.rx_depth = std::min(2 * spec.tx_depth, kMaxDepth);
}

/// GM has no path MTU.
bool has_path_mtu(const sweep::SweepSpec& spec) {
  return std::any_of(spec.connections.begin(), spec.connections.end(),
                     [](Connection connection) { return connection != Connection::gm; });
}

/// One working set for each combination.
void complete_blocks(const SweepOptions& options, sweep::SweepSpec& spec) {
  constexpr std::uint64_t kBlockSizeBytes = 32768;  // of the GM page
  constexpr std::uint32_t kInFlight = 8;            // its concurrent sends
  if (!spec.passes.empty() && !spec.messages) spec.messages = sweep::kPassMessages;
  const auto& blocks = options.blocks;
  if (blocks.counts.empty()) return;
  if (!options.tx_depth_given) spec.tx_depth = blocks.in_flight.value_or(kInFlight);
  // Few receives, so that blocks are reused at the destination in their order, too.
  if (!options.rx_depth_given) spec.rx_depth = std::clamp(2 * spec.tx_depth, kMinCreditDepth, kMaxDepth);
  const auto sizes = blocks.sizes_bytes.empty() ? std::vector{kBlockSizeBytes} : blocks.sizes_bytes;
  for (const auto size : sizes) {
    for (const auto order : blocks.orders) {
      for (const auto count : blocks.counts) {
        spec.working_sets.push_back({.block_count = count,
                                     .block_size_bytes = size,
                                     .page_size_bytes = blocks.page_size_bytes,
                                     .alias_count = blocks.alias_count,
                                     .mr_mode = blocks.mr_mode,
                                     .order = order,
                                     .side = blocks.side});
      }
    }
  }
}

/// Of a block study: every 1 KiB up to the smallest block, at which steps of 4 KiB pages show.
std::vector<std::uint64_t> block_study_sizes(const std::vector<WorkingSet>& sets) {
  const auto smallest = std::ranges::min(sets, {}, &WorkingSet::block_size_bytes).block_size_bytes;
  if (smallest < 1024) return {smallest};
  return sweep::parse_sizes("1K:" + std::to_string(smallest) + ":+1K");
}

std::vector<std::uint64_t> default_sizes(const SweepOptions& options, const sweep::SweepSpec& spec) {
  if (!spec.working_sets.empty()) return block_study_sizes(spec.working_sets);
  return options.pairs.empty() ? sweep::default_sizes(spec.path_mtus) : sweep::parse_sizes(kPairSizes);
}

}  // namespace

std::vector<std::uint64_t> posted_sizes(std::string_view table_id, const sweep::SweepSpec& spec) {
  const auto table = reference::load_table(table_id);
  const bool only_mpi = spec.connections.size() == 1 && has_mpi(spec);
  std::vector<std::uint64_t> sizes;
  for (const auto& [point, outcome] : table.points) {
    const auto wire = wire_size_bytes(point);
    if (has_mpi(spec) && wire > spec.header_bytes) sizes.push_back(wire - spec.header_bytes);
    if (!only_mpi) sizes.push_back(wire);
  }
  if (table.header.provenance && table.header.provenance->id == analysis::kTavorTableId) {
    sizes.push_back(analysis::kTavorGapMessageSizeBytes);
  }
  std::erase(sizes, 0U);
  if (sizes.empty()) throw ConfigError{"posted:" + std::string{table_id} + ": the table has no message sizes"};
  return sizes;
}

sweep::SweepSpec complete_plan(const SweepOptions& options, const Backend& backend) {
  auto spec = options.spec;
  if (!options.connections_given) spec.connections = {default_connection(backend)};
  spec.path_mtus = options.path_mtus ? parse_option("--mtu", [&] { return sweep::parse_path_mtus(*options.path_mtus); })
                                     : default_path_mtus(backend);
  if (!options.path_mtus && !has_path_mtu(spec)) spec.path_mtus.clear();
  const bool is_model = backend.source() == Source::model;
  spec.header_bytes = options.header_bytes.value_or(is_model && has_mpi(spec) ? kMpiHeaderBytes : 0);
  if (is_mpi(backend)) complete_mpi(options, spec);
  complete_blocks(options, spec);
  if (options.sizes) {
    spec.message_sizes_bytes = parse_option("--size", [&] { return sizes_of(*options.sizes, spec); });
  } else {
    spec.message_sizes_bytes = default_sizes(options, spec);
  }
  if (!options.wait_mode_given && ends_may_share_a_cpu(options)) spec.wait_mode = WaitMode::yield;
  sweep::check(spec);
  return spec;
}

}  // namespace mtuscope::cli
