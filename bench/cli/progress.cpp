#include "progress.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mtuscope/core/clock.hpp"
#include "mtuscope/report/units.hpp"

namespace mtuscope::cli {
namespace {

constexpr std::uint64_t kRedrawNs = 100'000'000;
constexpr const char* kClearLine = "\r\x1b[K";

}  // namespace

std::string progress_text(const sweep::Progress& progress) {
  const auto expected = std::max(progress.trials_expected, progress.trials_done);
  auto text = fmt::format("{} of {} points, {} of {} trials", progress.points_done, progress.point_count,
                          progress.trials_done, expected);
  const auto done_now = progress.trials_done - progress.trials_before;
  if (done_now == 0) return text;
  const double per_trial = static_cast<double>(progress.elapsed_ns) / static_cast<double>(done_now);
  const auto left_ns = static_cast<std::uint64_t>(per_trial * static_cast<double>(expected - progress.trials_done));
  return text + fmt::format(", {} left", report::duration(left_ns));
}

void ProgressLine::update(const sweep::Progress& progress) {
  if (!shown_) return;
  const auto now = MonotonicClock{}.now_ns();
  if (drawn_ && now - last_drawn_ns_ < kRedrawNs) return;
  Console::draw(kClearLine + progress_text(progress));
  drawn_ = true;
  last_drawn_ns_ = now;
}

void ProgressLine::clear() {
  if (!drawn_) return;
  Console::draw(kClearLine);
  drawn_ = false;
}

}  // namespace mtuscope::cli
