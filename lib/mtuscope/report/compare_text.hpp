#pragma once
#include <string>

#include "mtuscope/analysis/crossover.hpp"
#include "mtuscope/analysis/laws.hpp"
#include "mtuscope/analysis/posted.hpp"
#include "mtuscope/records/result_set.hpp"
#include "mtuscope/report/text_table.hpp"

namespace mtuscope::report {

/// What is beside what: "run rc send stream beside table mpi send stream, on wire sizes".
[[nodiscard]] std::string comparison_title(const analysis::PostedComparison& comparison);

/// Posted value, ours and the residual, per size and path MTU, with the table's values that had no partner.
[[nodiscard]] std::string pairs_text(const analysis::PostedComparison& comparison, Source run_source,
                                     Source table_source);

/// Where the lead changes between each two neighbouring path MTUs of `series`, each with the sizes that bracket it.
[[nodiscard]] std::string crossovers_text(const analysis::Series& series, analysis::Metric metric,
                                          const std::string& whose);

/// The laws of the posted table with verdict and numbers; of a model's run it says which law could not fail.
[[nodiscard]] std::string laws_text(const std::array<analysis::LawResult, 4>& laws, Source run_source, Color color);

}  // namespace mtuscope::report
