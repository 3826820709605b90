#include "parse.hpp"

#include <array>
#include <charconv>
#include <utility>

namespace mtuscope::cli {
namespace {

/// The number at the front of `text`, which is shortened to what follows it.
double take_number(std::string_view& text, const std::string& whole) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) throw ConfigError{"\"" + whole + "\" does not begin with a number"};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

}  // namespace

double parse_fraction(std::string_view text) {
  const std::string whole{text};
  double value = take_number(text, whole);
  if (text == "%") {
    value /= 100;
  } else if (!text.empty()) {
    throw ConfigError{"\"" + whole + "\" is no share; write 1% or 0.01"};
  }
  if (!(value > 0 && value <= 1)) throw ConfigError{"\"" + whole + "\" is not above 0 and at most 100%"};
  return value;
}

std::uint64_t parse_duration_ns(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 6> kUnits{
      {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}}};
  static constexpr double kLongestNs = 365.0 * 24 * 3600e9;
  const std::string whole{text};
  if (text == "0") return 0;
  const double value = take_number(text, whole);
  for (const auto& [unit, factor] : kUnits) {
    if (unit != text) continue;
    if (!(value > 0 && value * factor >= 1 && value * factor <= kLongestNs)) break;
    return static_cast<std::uint64_t>(value * factor);
  }
  throw ConfigError{"\"" + whole + "\" is no time; write a positive number with ns, us, ms, s, min or h"};
}

std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const auto comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace mtuscope::cli
