// Any text is either a list of sizes that keeps what parse_sizes promises, or a ConfigError.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <string_view>

#include "mtuscope/core/error.hpp"
#include "mtuscope/sweep/spec.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::uint64_t kMaxSizeBytes = std::uint64_t{1} << 31U;
  constexpr std::size_t kMaxSizes = 100'000;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    const auto sizes_bytes = mtuscope::sweep::parse_sizes(text);
    const bool strictly_ascending =
        std::adjacent_find(sizes_bytes.begin(), sizes_bytes.end(), std::greater_equal<>{}) == sizes_bytes.end();
    const bool as_promised = !sizes_bytes.empty() && sizes_bytes.size() <= kMaxSizes && strictly_ascending &&
                             sizes_bytes.front() > 0 && sizes_bytes.back() <= kMaxSizeBytes;
    if (!as_promised) std::abort();
  } catch (const mtuscope::ConfigError&) {
    return 0;
  }
  return 0;
}
