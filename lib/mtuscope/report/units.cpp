#include "mtuscope/report/units.hpp"

#include <fmt/format.h>

namespace mtuscope::report {

std::string mtu_label(PathMtu mtu) {
  const auto bytes = to_bytes(mtu);
  return bytes >= 1024 ? fmt::format("{}K", bytes / 1024) : fmt::format("{}", bytes);
}

std::string megabytes_per_s(double bytes_per_s) { return fmt::format("{:.2f}", bytes_per_s / 1e6); }

std::string microseconds(double ns) { return fmt::format("{:.2f}", ns / 1e3); }

std::string signed_percent(double fraction) {
  // A value that rounds to zero gets no sign: "-0.00" says nothing.
  const auto text = fmt::format("{:+.2f}", fraction * 100);
  return text == "-0.00" || text == "+0.00" ? "0.00" : text;
}

std::string percent(double fraction, int decimals) { return fmt::format("{:.{}f}", fraction * 100, decimals); }

std::string printable(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too; UTF-8 writes them with 0xC2 in front.
    const bool second_of_control = byte >= 0x80 && byte < 0xa0 && i > 0 && text[i - 1] == '\xc2';
    if (byte < 0x20 || byte == 0x7f || second_of_control) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += text[i];
    }
  }
  return out;
}

std::string duration(std::uint64_t ns) {
  const auto seconds = (ns + 500'000'000U) / 1'000'000'000U;
  if (seconds < 60) return fmt::format("{} s", seconds);
  if (seconds < 3600) return fmt::format("{} min {:02} s", seconds / 60, seconds % 60);
  return fmt::format("{} h {:02} min", seconds / 3600, seconds % 3600 / 60);
}

}  // namespace mtuscope::report
