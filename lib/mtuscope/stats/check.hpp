#pragma once
#include <span>
#include <string_view>

namespace mtuscope::stats {

/// Refuses NaN and infinity, which would otherwise sort anywhere and spoil a summary without a sign.
/// Throws std::invalid_argument naming `function` and the position of the first bad value.
void require_finite(std::span<const double> values, std::string_view function);

/// Throws std::invalid_argument naming `function` unless 0 < `coverage` < 1.
void require_coverage(double coverage, std::string_view function);

}  // namespace mtuscope::stats
