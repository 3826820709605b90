#pragma once
#include <cstdint>
#include <string>

#include "console.hpp"
#include "mtuscope/sweep/sink.hpp"

namespace mtuscope::cli {

/// "12 of 136 points, 340 of 1088 trials, 8 s left": time left as if all trials took as long as those so far.
[[nodiscard]] std::string progress_text(const sweep::Progress& progress);

/// One line on standard error, redrawn at most ten times a second, only on a terminal.
class ProgressLine {
 public:
  explicit ProgressLine(const Console& console) : shown_(console.can_show_progress()) {}
  void update(const sweep::Progress& progress);
  /// Takes the line away, so that something else can be printed.
  void clear();

 private:
  bool shown_;
  bool drawn_ = false;
  std::uint64_t last_drawn_ns_ = 0;
};

}  // namespace mtuscope::cli
