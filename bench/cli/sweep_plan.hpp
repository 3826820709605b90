#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/backend.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// What MPI adds to a message when --header does not say: "approx 50 bytes" (the 2006 mail) [bytes].
inline constexpr std::uint32_t kMpiHeaderBytes = 50;

/// The complete plan: options, and where they are silent what suits the back end. Path MTUs default to 1K, 2K and, for
/// a device, its port's active MTU; connections to rc for verbs, mpi for a model, none for the floors; waiting yields
/// where both ends would share one CPU. Throws ConfigError.
[[nodiscard]] sweep::SweepSpec complete_plan(const SweepOptions& options, const Backend& backend);

/// The message sizes that meet a posted table's wire sizes: less the header for MPI points, as they are for others. For
/// the 2006 Tavor table also the 128 KiB of its author's last claim.
[[nodiscard]] std::vector<std::uint64_t> posted_sizes(std::string_view table_id, const sweep::SweepSpec& spec);

}  // namespace mtuscope::cli
