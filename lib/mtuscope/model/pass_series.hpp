#pragma once
#include <optional>

#include "mtuscope/core/point.hpp"

namespace mtuscope::model {

/// Which trials of a session go on with the state that the trial before them left in the device.
///
/// Only those of passes do: both points have a pass and differ in nothing but pass and message size, and sizes rise or
/// stay in a pass up, fall or stay in a pass down. What breaks this (another working set, a pass up after a pass down,
/// a smaller size in a pass up, a point without a pass) begins a new series, cold.
class PassSeries {
 public:
  /// To be asked once per trial, in the order of the trials.
  [[nodiscard]] bool goes_on_with(const Point& point) {
    const bool goes_on = previous_ && follows(*previous_, point);
    previous_ = point;
    return goes_on;
  }

 private:
  [[nodiscard]] static bool follows(const Point& before, const Point& after) {
    if (before.pass == Pass::none || after.pass == Pass::none) return false;
    if (before.pass == Pass::down && after.pass == Pass::up) return false;
    const bool in_direction = after.pass == Pass::up ? after.message_size_bytes >= before.message_size_bytes
                                                     : after.message_size_bytes <= before.message_size_bytes;
    auto alike = before;
    alike.pass = after.pass;
    alike.message_size_bytes = after.message_size_bytes;
    return in_direction && alike == after;
  }

  std::optional<Point> previous_;
};

}  // namespace mtuscope::model
