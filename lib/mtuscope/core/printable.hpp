#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace mtuscope {

/// Length of the valid UTF-8 sequence `text` starts with; 0 if there is none (RFC 3629: no overlong forms, no
/// surrogates, nothing above U+10FFFF).
[[nodiscard]] std::size_t utf8_length(std::string_view text) noexcept;

/// A stranger's text (of a record, a peer, a launcher) as it may stand on one line of a terminal: control characters,
/// line feeds too, and what is no UTF-8 become \xNN.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace mtuscope
