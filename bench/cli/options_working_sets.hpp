#pragma once
#include "option_kinds.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// The options of a sweep that cycles through blocks, and of its direction.
void add_working_sets(CLI::App& app, SweepOptions& options);

}  // namespace mtuscope::cli
