#pragma once
#include <cstdint>

namespace mtuscope::test {

/// Calls of operator new in this program so far; the layer's allocation_counter.cpp replaces operator new.
[[nodiscard]] std::uint64_t allocation_count() noexcept;

}  // namespace mtuscope::test
