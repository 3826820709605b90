#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/records/journal_file.hpp"
#include "mtuscope/records/result_set.hpp"
#include "mtuscope/sweep/pair_schedule.hpp"

/// A run of pairs on disk, round by round: the plan and the ranks on the first line, then a line for each pair. So many
/// pairs fit into a file as no memory holds; the record is made from it at the end.
namespace mtuscope::records {

/// What one pair measured. Its points name its own sessions, and their pair is left to whoever knows the ranks' names.
struct PairResult {
  std::uint32_t round = 0;
  sweep::RankPair ranks;
  std::vector<sweep::SessionRecord> sessions{};
  std::vector<PointResult> points{};
};

/// The first line, and that of a pair, each with its line feed.
[[nodiscard]] std::string pair_journal_header(const RecordHeader& header);
[[nodiscard]] std::string pair_journal_line(const PairResult& result);
/// Throw SchemaError; `name` names the text in it.
[[nodiscard]] RecordHeader read_pair_journal_header(const std::string& line, std::string_view name);
[[nodiscard]] PairResult read_pair_journal_line(const std::string& line, std::string_view name);

/// Which pairs a journal has.
struct PairJournalIndex {
  struct Entry {
    sweep::RankPair ranks;
    std::uint64_t offset_bytes = 0;  ///< of its line in the file
  };
  RecordHeader header;
  std::vector<Entry> entries;  ///< sorted by ranks
};

/// Reads the first line and where the others are; a last line that was not finished is left out. Throws ConfigError (no
/// such file) and SchemaError (damaged, a pair twice).
[[nodiscard]] PairJournalIndex index_pair_journal(const std::string& path);

/// Hands over every pair, in the order of the index; the pairs of points are named as in the header.
void visit_pair_journal(const std::string& path, const PairJournalIndex& index,
                        const std::function<void(PairResult&& result)>& visit);

/// Writes the record of a journal's pairs, keeping one pair in memory. The caller checks the state of `out`.
void write_pair_record(std::ostream& out, const std::string& path, const PairJournalIndex& index, bool complete);

}  // namespace mtuscope::records
