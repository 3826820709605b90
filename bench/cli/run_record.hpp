#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "commands.hpp"
#include "mtuscope/records/record_file.hpp"
#include "mtuscope/records/result_set.hpp"
#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/backend.hpp"

namespace mtuscope::cli {

/// What a record says of the run that begins now, with `environment` as its initiator's.
[[nodiscard]] records::RecordHeader make_header(const Backend& backend, const sweep::SweepSpec& spec,
                                                const Environment& environment, const CommandContext& context);

/// Writes the record of --out; when that fails at the very end, says that the journal still has every trial. A file
/// that has appeared since check_output is left alone unless --overwrite or --resume is given. Throws RunError.
void write_file_or_say_where(const SweepOptions& options, const records::RecordBody& write);

/// What makes a run less than a success, gathered while its results pass by.
class RunJudge {
 public:
  void add(const std::vector<sweep::SessionRecord>& sessions, const std::vector<records::PointResult>& points);
  /// Complains in one line about each. `ending`: how the run ended early ("was interrupted"); empty: it did not.
  [[nodiscard]] ExitCode judge(const std::optional<std::string>& ending) const;

 private:
  std::size_t points_ = 0;
  std::size_t measured_ = 0;
  std::size_t failed_ = 0;
  std::string first_failure_;
  std::string first_skip_;
  std::string contradiction_;  ///< the first
};

}  // namespace mtuscope::cli
