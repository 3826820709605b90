#pragma once
#include <optional>
#include <string>
#include <vector>

namespace mtuscope::cli {

/// What `{rank}` and `{host}` stand for.
struct RankName {
  std::optional<int> rank;  ///< nothing if the launcher does not tell before MPI is started
  std::string host;         ///< up to the first dot
};

/// As the launcher tells: by its environment (Open MPI, PMIx, PMI, MVAPICH2, Slurm) and the host's name.
[[nodiscard]] RankName rank_name();
/// The command line with `{rank}` and `{host}` replaced and the words of `--options-file` in its place, so that one
/// line gives each rank its device. Throws ConfigError where `{rank}` is written and the rank is not known, and for a
/// file that cannot be read.
[[nodiscard]] std::vector<std::string> expand(const std::vector<std::string>& arguments, const RankName& name);
/// Whether this rank's options may be wrong where those of rank 0 are right: its faults are its own to tell.
[[nodiscard]] bool has_own_options(const std::vector<std::string>& arguments);
/// Sets what `--env NAME=VALUE` asks for. Before MPI is started and any thread: MPI libraries read their settings then.
/// Throws ConfigError.
void set_environment(const std::vector<std::string>& arguments);

}  // namespace mtuscope::cli
