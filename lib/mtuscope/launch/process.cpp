#include "mtuscope/launch/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
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

/// The attributes of posix_spawn, owned.
class SpawnSetup {
 public:
  SpawnSetup() {
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_init(&actions_);
  }
  SpawnSetup(const SpawnSetup&) = delete;
  SpawnSetup& operator=(const SpawnSetup&) = delete;
  ~SpawnSetup() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }
  [[nodiscard]] pid_t start(const std::vector<std::string>& argv, int out, int err) {
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int number : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&defaults, number);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
    posix_spawn_file_actions_addopen(&actions_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions_, out, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, err, STDERR_FILENO);
    std::vector<char*> words;
    words.reserve(argv.size() + 1);
    for (const auto& word : argv) words.push_back(const_cast<char*>(word.c_str()));  // NOLINT: spawn's C signature
    words.push_back(nullptr);
    pid_t pid = 0;
    const int error = posix_spawnp(&pid, words.front(), &actions_, &attributes_, words.data(), environ);
    if (error != 0) throw SystemError("cannot start " + argv.front() + " (is it in PATH?)", error);
    return pid;
  }

 private:
  posix_spawnattr_t attributes_{};
  posix_spawn_file_actions_t actions_{};
};

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
    pid_ = SpawnSetup{}.start(argv, out_.writer(), err_.writer());
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
