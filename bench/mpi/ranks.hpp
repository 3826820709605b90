#pragma once
#include "commands.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// MPI from its start to its end. Every rank makes one, first of all.
class MpiWorld {
 public:
  /// Throws RunError when MPI cannot be started.
  MpiWorld(int& argc, char**& argv);
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;
  /// Waits for the other ranks as MPI_Finalize does, but not for ever: then the process ends with `code`.
  void finish(ExitCode code) const;
  ~MpiWorld() = default;

  [[nodiscard]] int rank() const noexcept { return rank_; }
  [[nodiscard]] int size() const noexcept { return size_; }

 private:
  int rank_ = 0;
  int size_ = 1;
};

/// This rank's part of a sweep: rank 0 measures and writes, rank 1 answers. Throws ConfigError (exit 2) and RunError
/// (exit 3); at rank 1 the reason is rank 0's to tell.
[[nodiscard]] ExitCode run_rank(const MpiWorld& world, const SweepOptions& options, const CommandContext& context);

}  // namespace mtuscope::cli
