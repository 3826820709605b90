#pragma once
#include <string>
#include <vector>

#include "mtuscope/analysis/pair_matrix.hpp"
#include "mtuscope/report/text_table.hpp"

namespace mtuscope::report {

/// Pair matrices for people: a row each with median, worst and best pair; the worst pairs; hosts that are slow in all
/// of theirs, with the rule's numbers; pairs whose path MTU was not what was asked; what was skipped or failed and why.
/// Up to eight hosts, the matrices themselves.
[[nodiscard]] std::string pair_matrix_text(const std::vector<analysis::PairMatrix>& matrices, Color color);

}  // namespace mtuscope::report
