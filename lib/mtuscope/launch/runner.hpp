#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "mtuscope/launch/mtu_knob.hpp"
#include "mtuscope/sweep/runner.hpp"

namespace mtuscope::launch {

/// How mtuscope-mpi is started for one path MTU.
struct Launcher {
  std::vector<std::string> command;  ///< "mpirun", "-np", "2", ...
  std::string program;               ///< mtuscope-mpi, as the launcher finds it
  std::vector<std::string> options;  ///< of its sweep, the same at every launch; what the plan decides is added after
  MtuKnob knob;
  std::uint64_t timeout_ns = 0;  ///< of one launch
};

/// What a plan of launches may contain: connection mpi, at a stated path MTU. It cannot be opened: `run_launched`
/// measures it.
[[nodiscard]] std::unique_ptr<Backend> make_launched_mpi();

/// Measures the plan by launches: an MPI library takes its path MTU when it starts, so an arrangement is one launch
/// per path MTU, in the order A B B A. Each launch runs the rounds of its block and prints its record, whose trials are
/// added to ours. A launch that fails ends the points of its path MTU, with the launcher's last words; the others go
/// on. `context.backend` and `context.exchange` are not used. Throws ConfigError and RunError (no launch worked).
[[nodiscard]] sweep::RunResult run_launched(const sweep::SweepSpec& spec, sweep::RunContext context,
                                            const Launcher& launcher);

}  // namespace mtuscope::launch
