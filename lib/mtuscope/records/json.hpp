#pragma once
#include <functional>
#include <iosfwd>
#include <string_view>
#include <vector>

#include "mtuscope/records/json_tree.hpp"
#include "mtuscope/records/json_writer.hpp"
#include "mtuscope/records/point_json.hpp"
#include "mtuscope/records/result_set.hpp"

/// Records as files: docs/result-format.md says what they mean, results/schema/ holds the published schema.
namespace mtuscope::records {

/// Name and version of the format written here. A higher major version is refused, a higher minor one is read.
inline constexpr std::string_view kRecordSchemaName = "mtuscope-record";
inline constexpr std::string_view kRecordSchemaVersion = "2.2.0";

/// Writes a record piece by piece, for one that is never whole in memory: sessions, then points. The caller checks the
/// state of the stream after `finish`.
class RecordWriter {
 public:
  /// `stream` must outlive the writer.
  RecordWriter(std::ostream& stream, const RecordHeader& header, bool complete);
  void add_session(const sweep::SessionRecord& session);
  /// `columns` are those that any trial of the points needs, and `point_count` of these follow.
  void begin_points(std::vector<TrialColumn> columns, std::size_t point_count);
  void add_point(const PointResult& point);
  void finish();

 private:
  void key(std::string_view name);

  std::ostream& stream_;
  JsonWriter out_;
  std::vector<TrialColumn> columns_;
};

/// Writes a record as a stream. The bytes depend on `record` alone. The caller checks the state of `out`.
void write_record(std::ostream& out, const ResultSet& record);

/// Reads a record; `name` names it in errors. Memory beyond the result: one point.
/// Throws SchemaError (damaged, truncated, another format or major version, numbers that contradict each other) and
/// RunError (the stream failed).
[[nodiscard]] ResultSet read_record(std::istream& in, std::string_view name);

/// The same without keeping the points: each is handed over with the record's header as it is read. Returns the header.
using PointVisitor = std::function<void(const ResultSet& header, PointResult&& point)>;
ResultSet visit_record(std::istream& in, std::string_view name, const PointVisitor& visit);

/// Reads everything and keeps nothing: throws SchemaError at the first fault. Every summary is computed anew from its
/// trials. The header and the first 1000 points are also held against the published schema, word for word.
void validate(std::istream& in, std::string_view name);

}  // namespace mtuscope::records
