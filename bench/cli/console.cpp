#include "console.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/printable.hpp"

namespace mtuscope::cli {
namespace {

std::string_view program_name = "mtuscope";

void write_all(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fflush(stream);
}

/// Whether a line can be drawn over: not on a terminal that calls itself dumb, or nothing.
bool terminal_can_redraw() {
  const char* term = std::getenv("TERM");  // NOLINT(concurrency-mt-unsafe): before any thread is started
  return term != nullptr && *term != '\0' && std::string_view{term} != "dumb";
}

}  // namespace

Console::Console(const Settings& settings)
    : settings_(settings),
      redraws_errors_(isatty(STDERR_FILENO) == 1 && terminal_can_redraw()),
      says_to_terminal_(!settings.output_is_record && isatty(STDOUT_FILENO) == 1),
      color_(settings.color && says_to_terminal_ ? report::Color::on : report::Color::off) {}

void Console::say(std::string_view text) const {
  if (!settings_.quiet) write_all(settings_.output_is_record ? stderr : stdout, text);
}

void Console::answer(std::string_view text) {
  errno = 0;
  write_all(stdout, text);
  if (std::ferror(stdout) != 0) throw SystemError{"writing to standard output", errno};
}

void Console::name_program(std::string_view name) noexcept { program_name = name; }

void Console::complain(std::string_view message) {
  write_all(stderr, std::string{program_name} + ": " + printable(message).append("\n"));
}

void Console::draw(std::string_view text) { write_all(stderr, text); }

}  // namespace mtuscope::cli
