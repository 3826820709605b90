#pragma once
#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

#include "mtuscope/core/clock.hpp"

namespace mtuscope::launch {

/// How a program ended.
struct ProcessResult {
  int exit_code = 0;       ///< 128 + the signal's number where one ended it
  bool timed_out = false;  ///< it was ended at the deadline
  bool stopped = false;    ///< it was ended because the user asked to stop
  std::string output;      ///< all of standard output
  std::string last_lines;  ///< the end of standard error, whole lines
};

/// Runs `argv` in a process group of its own, with nothing on standard input. At the deadline, and when `stop` is set,
/// the group gets SIGTERM, and SIGKILL a few seconds later. When the calling thread ends, and this program with it, the
/// program gets SIGTERM too. Throws RunError when it cannot be started, or prints more than `max_output_bytes`.
[[nodiscard]] ProcessResult run_process(const std::vector<std::string>& argv, Deadline deadline,
                                        const std::atomic<bool>& stop, std::size_t max_output_bytes);

/// Splits a command as a shell would: quotes, backslashes, variables, ~ and patterns, but no commands or pipes. Throws
/// ConfigError.
[[nodiscard]] std::vector<std::string> split_command(const std::string& text);

}  // namespace mtuscope::launch
