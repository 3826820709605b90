#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace CLI {  // NOLINT(readability-identifier-naming): the library has chosen it
class App;
class Option;
}  // namespace CLI

/// The kinds of options that our commands have, on top of CLI11's.
namespace mtuscope::cli {

/// The smallest and the largest value an option takes.
using OptionRange = std::pair<std::uint64_t, std::uint64_t>;

/// An option whose text is turned into values by a parser that throws ConfigError.
CLI::Option* add_parsed(CLI::App& app, const std::string& names, const std::string& help,
                        std::function<void(const std::string&)> parser);

/// A number within `range`, given to `set`.
CLI::Option* add_number(CLI::App& app, const std::string& names, const std::string& help,
                        const std::function<void(std::uint64_t)>& set, OptionRange range);
/// Shows a default in the help.
void show_default(CLI::Option& option, const std::string& text);

/// A number whose value so far is the default.
template <class Integer>
void add_integer(CLI::App& app, const std::string& names, const std::string& help, Integer& target, OptionRange range) {
  const auto set = [&target](std::uint64_t value) { target = static_cast<Integer>(value); };
  show_default(*add_number(app, names, help, set, range), std::to_string(target));
}

/// A number that may be left out.
template <class Integer>
void add_optional_integer(CLI::App& app, const std::string& names, const std::string& help,
                          std::optional<Integer>& target, OptionRange range) {
  const auto set = [&target](std::uint64_t value) { target = static_cast<Integer>(value); };
  add_number(app, names, help, set, range);
}

}  // namespace mtuscope::cli
