#include "mtuscope/launch/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "mtuscope/core/error.hpp"

namespace mtuscope::launch {
namespace {

constexpr std::uint64_t kGraceNs = 5'000'000'000;
/// What is left in the pipes is read this long after the program's end; its children may keep them open for ever.
constexpr std::uint64_t kDrainNs = 1'000'000'000;
constexpr int kLookMs = 50;
constexpr int kCannotExec = 127;
constexpr std::size_t kMaxTailBytes = 4096;

/// A pipe whose reading end is ours and whose writing end is the program's.
class Pipe {
 public:
  Pipe() {
    if (::pipe2(ends_.data(), O_CLOEXEC) != 0) throw SystemError("pipe2", errno);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    close_writer();
    close_reader();
  }
  [[nodiscard]] int reader() const noexcept { return ends_[0]; }
  [[nodiscard]] int writer() const noexcept { return ends_[1]; }
  void close_writer() noexcept { close(ends_[1]); }
  void close_reader() noexcept { close(ends_[0]); }

 private:
  static void close(int& end) noexcept {
    if (end >= 0) ::close(end);
    end = -1;
  }
  std::array<int, 2> ends_{-1, -1};
};

/// What the new process does until it is another program; only calls that are safe after fork. Says its errno to
/// `report` when it cannot.
[[noreturn]] void become(const std::vector<char*>& words, int out, int err, int report, pid_t parent) noexcept {
  ::setpgid(0, 0);
  // When this program is killed, the launcher is asked to end, and ends its ranks.
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kCannotExec);
  for (const int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(out, STDOUT_FILENO) >= 0 &&
      ::dup2(err, STDERR_FILENO) >= 0) {
    ::execvp(words.front(), words.data());
  }
  const int error = errno;
  const bool told = ::write(report, &error, sizeof error) == sizeof error;
  ::_exit(told ? kCannotExec : kCannotExec - 1);
}

/// Starts `argv` in a group of its own. Throws SystemError when there is no such program.
pid_t start(const std::vector<std::string>& argv, int out, int err) {
  std::vector<char*> words;
  words.reserve(argv.size() + 1);
  for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: exec's C signature
  words.push_back(nullptr);
  Pipe report;
  const auto parent = ::getpid();
  const auto pid = ::fork();
  if (pid < 0) throw SystemError("fork", errno);
  if (pid == 0) become(words, out, err, report.writer(), parent);
  ::setpgid(pid, pid);  // whichever of the two comes first
  report.close_writer();
  int error = 0;
  if (::read(report.reader(), &error, sizeof error) == sizeof error) {
    ::waitpid(pid, nullptr, 0);
    throw SystemError("cannot start " + argv.front() + " (is it in PATH?)", error);
  }
  return pid;
}

/// Appends what can be read; false at the end of the stream.
bool read_some(int reader, std::string& text) {
  std::array<char, 65536> buffer{};
  const auto count = ::read(reader, buffer.data(), buffer.size());
  if (count < 0) return errno == EINTR;
  text.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0;
}

void keep_tail(std::string& text) {
  if (text.size() <= kMaxTailBytes) return;
  const auto from = text.find('\n', text.size() - kMaxTailBytes);
  text.erase(0, from == std::string::npos ? text.size() - kMaxTailBytes : from + 1);
}

/// A started program until it has ended. Nothing of its group outlives this.
class Running {
 public:
  explicit Running(const std::vector<std::string>& argv) {
    pid_ = start(argv, out_.writer(), err_.writer());
    out_.close_writer();
    err_.close_writer();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  ~Running() {
    ::kill(-pid_, SIGKILL);
    if (!status_) ::waitpid(pid_, nullptr, 0);
  }

  /// Reads for a moment, and looks whether the program has ended.
  void look(ProcessResult& result) {
    std::array<pollfd, 2> files{{{out_.reader(), POLLIN, 0}, {err_.reader(), POLLIN, 0}}};
    if (::poll(files.data(), files.size(), kLookMs) > 0) {
      if (files[0].revents != 0 && !read_some(out_.reader(), result.output)) out_.close_reader();
      if (files[1].revents != 0 && !read_some(err_.reader(), result.last_lines)) err_.close_reader();
      keep_tail(result.last_lines);
    }
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = status;
      drained_ = Deadline::after_ns(kDrainNs);
    }
  }
  [[nodiscard]] bool over() const {
    return status_ && ((out_.reader() < 0 && err_.reader() < 0) || drained_->passed());
  }
  void signal(int number) const noexcept { ::kill(-pid_, number); }
  [[nodiscard]] int exit_code() const noexcept {
    return WIFSIGNALED(*status_) ? 128 + WTERMSIG(*status_) : WEXITSTATUS(*status_);
  }

 private:
  Pipe out_;
  Pipe err_;
  pid_t pid_ = 0;
  std::optional<int> status_;
  std::optional<Deadline> drained_;
};

}  // namespace

ProcessResult run_process(const std::vector<std::string>& argv, Deadline deadline, const std::atomic<bool>& stop,
                          std::size_t max_output_bytes) {
  ProcessResult result;
  Running program{argv};
  std::optional<Deadline> grace;
  while (!program.over()) {
    program.look(result);
    if (result.output.size() > max_output_bytes) {
      throw RunError(argv.front() + " printed more than " + std::to_string(max_output_bytes) + " B: it was ended");
    }
    if (!grace && (stop || deadline.passed())) {
      (stop ? result.stopped : result.timed_out) = true;
      program.signal(SIGTERM);
      grace = Deadline::after_ns(kGraceNs);
    } else if (grace && grace->passed()) {
      program.signal(SIGKILL);
    }
  }
  result.exit_code = program.exit_code();
  return result;
}

std::vector<std::string> split_command(const std::string& text) {
  wordexp_t words{};
  // NOLINTNEXTLINE(concurrency-mt-unsafe): it reads the environment, which no thread of ours changes
  const int error = wordexp(text.c_str(), &words, WRDE_NOCMD | WRDE_UNDEF);
  if (error != 0) {
    if (error == WRDE_NOSPACE) wordfree(&words);
    throw ConfigError{"\"" + text + "\" is no plain command: " +
                      (error == WRDE_BADCHAR  ? "quote | & ; < > ( ) { }"
                       : error == WRDE_BADVAL ? "it names a variable that is not set"
                       : error == WRDE_CMDSUB ? "it contains a command substitution"
                                              : "a quote or a bracket is not closed")};
  }
  std::vector<std::string> result;
  for (std::size_t i = 0; i < words.we_wordc; ++i) result.emplace_back(words.we_wordv[i]);
  wordfree(&words);
  if (result.empty()) throw ConfigError{"the command is empty"};
  return result;
}

}  // namespace mtuscope::launch
