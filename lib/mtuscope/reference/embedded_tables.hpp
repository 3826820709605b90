#pragma once
#include <span>
#include <string_view>

namespace mtuscope::reference {

/// The files of results/reference/, sorted by name, compiled in so that they are there without the source tree.
extern const std::span<const std::string_view> kEmbeddedTables;

}  // namespace mtuscope::reference
