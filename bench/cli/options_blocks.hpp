#pragma once
#include "option_kinds.hpp"
#include "options.hpp"

namespace mtuscope::cli {

/// The options of `mtuscope blocks`, which `options` is filled from.
void add_blocks(CLI::App& app, BlocksOptions& options);

}  // namespace mtuscope::cli
