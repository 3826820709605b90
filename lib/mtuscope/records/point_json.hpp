#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/records/json_tree.hpp"
#include "mtuscope/records/json_writer.hpp"
#include "mtuscope/records/result_set.hpp"

/// A point, its outcome and its trials in JSON: the part of a record that may be long.
namespace mtuscope::records {

/// The columns of a trial's row. A record declares those it uses.
enum class TrialColumn : std::uint8_t {
  arrangement,
  round,
  order,
  messages,
  elapsed_ns,
  sent_messages,
  received_messages,
  min_slice_bytes_per_s,
  sender_elapsed_ns,
  unknown  ///< of a newer minor version; skipped
};

/// The columns that any trial of these points needs, in the order of the enumeration.
[[nodiscard]] std::vector<TrialColumn> columns_of(const std::vector<PointResult>& points);
void write_columns(JsonWriter& out, const std::vector<TrialColumn>& columns);
/// Throws SchemaError: no array of words, a word twice, or one of the first five is missing.
[[nodiscard]] std::vector<TrialColumn> read_columns(const JsonTree& tree, std::uint32_t node);

/// One element of a record's `points`.
void write_point(JsonWriter& out, const PointResult& result, const std::vector<TrialColumn>& columns);
/// Throws SchemaError; among other things when numbers that must agree do not: wire size, the number of trials, the
/// bandwidth outside of what the trials say. `session_count` bounds the session's index.
[[nodiscard]] PointResult read_point(const JsonTree& tree, std::uint32_t node, const std::vector<TrialColumn>& columns,
                                     std::size_t session_count);

/// The identity of a point alone, its outcome without trials, and one trial with its whole histogram: what a journal
/// needs.
void write_identity(JsonWriter& out, const Point& point);
[[nodiscard]] Point read_identity(const JsonTree& tree, std::uint32_t node);
void write_outcome(JsonWriter& out, const Outcome& outcome);
[[nodiscard]] Outcome read_outcome(const JsonTree& tree, std::uint32_t node);
void write_trial(JsonWriter& out, const Trial& trial);
[[nodiscard]] Trial read_trial(const JsonTree& tree, std::uint32_t node);

}  // namespace mtuscope::records
