#pragma once
#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "mtuscope/core/error.hpp"

/// The kinds of options that our commands have, on top of CLI11's. For files that declare options only.
namespace mtuscope::cli {

/// An option whose text is turned into values by a parser that throws ConfigError.
inline CLI::Option* add_parsed(CLI::App& app, const std::string& names, const std::string& help,
                               std::function<void(const std::string&)> parser) {
  return app.add_option_function<std::string>(
      names,
      [names, parser = std::move(parser)](const std::string& text) {
        try {
          parser(text);
        } catch (const ConfigError& error) {
          throw CLI::ValidationError(names.substr(names.find("--"), names.substr(names.find("--")).find(',')),
                                     error.what());
        }
      },
      help);
}

/// A number within `range`, both ends included; its value so far is the default.
template <class Integer>
void add_integer(CLI::App& app, const std::string& names, const std::string& help, Integer& target,
                 std::pair<std::uint64_t, std::uint64_t> range) {
  app.add_option_function<std::uint64_t>(
         names, [&target](const std::uint64_t& value) { target = static_cast<Integer>(value); }, help)
      ->check(CLI::Range(range.first, range.second))
      ->default_str(std::to_string(target));
}

/// The same without a default.
template <class Integer>
void add_optional_integer(CLI::App& app, const std::string& names, const std::string& help,
                          std::optional<Integer>& target, std::pair<std::uint64_t, std::uint64_t> range) {
  app.add_option_function<std::uint64_t>(
         names, [&target](const std::uint64_t& value) { target = static_cast<Integer>(value); }, help)
      ->check(CLI::Range(range.first, range.second));
}

}  // namespace mtuscope::cli
