#pragma once
#include "commands.hpp"
#include "mtuscope/records/result_set.hpp"
#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/backend.hpp"

namespace mtuscope::cli {

/// What a record says of the run that begins now, with `environment` as its initiator's.
[[nodiscard]] records::RecordHeader make_header(const Backend& backend, const sweep::SweepSpec& spec,
                                                const Environment& environment, const CommandContext& context);

}  // namespace mtuscope::cli
