#pragma once
#include <algorithm>
#include <cctype>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/point.hpp"

namespace mtuscope::cli {

/// "1%" or "0.01" as a fraction. Throws ConfigError unless it is above 0 and at most 1.
[[nodiscard]] double parse_fraction(std::string_view text);
/// "20ms", "10s", "5min", "2h" [ns]; "0" is 0. Throws ConfigError for anything else, a missing unit too.
[[nodiscard]] std::uint64_t parse_duration_ns(std::string_view text);
/// The parts between commas; empty parts are kept, so that "a,,b" can be refused.
[[nodiscard]] std::vector<std::string> split_commas(std::string_view text);

/// A comma-separated list of a core enumeration's words in any case ("RC,ud"), of those that `known` lists. Throws
/// ConfigError naming `known`.
template <class Enum>
[[nodiscard]] std::vector<Enum> parse_words(std::string_view text, std::string_view known) {
  auto accepted = split_commas(known);
  for (auto& word : accepted) word.erase(0, word.find_first_not_of(' '));
  std::vector<Enum> values;
  for (auto word : split_commas(text)) {
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    const auto value = enum_from_string<Enum>(word);
    if (!value || std::find(accepted.begin(), accepted.end(), word) == accepted.end())
      throw ConfigError{"unknown word \"" + word + "\"; use some of " + std::string{known}};
    if (std::find(values.begin(), values.end(), *value) == values.end()) values.push_back(*value);
  }
  return values;
}

}  // namespace mtuscope::cli
