#include "mtuscope/core/printable.hpp"

namespace mtuscope {

std::string printable(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F are control characters too; UTF-8 writes them with 0xC2 in front.
    const bool second_of_control = byte >= 0x80 && byte < 0xa0 && i > 0 && text[i - 1] == '\xc2';
    if (byte < 0x20 || byte == 0x7f || second_of_control) {
      out += "\\x";
      out += kDigits[byte / 16];
      out += kDigits[byte % 16];
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace mtuscope
