#pragma once
#include <string>
#include <string_view>

namespace mtuscope {

/// A stranger's text (of a record, a peer) as it may stand on one line of a terminal: control characters, line feeds
/// too, become \xNN.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace mtuscope
