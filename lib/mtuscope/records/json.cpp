#include "mtuscope/records/json.hpp"

#include <ostream>

#include "mtuscope/records/consistency.hpp"
#include "mtuscope/records/header_json.hpp"
#include "mtuscope/records/json_fields.hpp"
#include "mtuscope/records/schema.hpp"

namespace mtuscope::records {
namespace {

constexpr std::string_view kPoints = "points";
constexpr std::size_t kSmallRecord = 1000;  // points held against the published schema as well

/// A record while its points pass by.
class Reader {
 public:
  Reader(std::string_view name, PointVisitor visit) : name_(name), visit_(std::move(visit)) {}

  /// `on_tree` is shown the header and every point as they were written, before they are read.
  ResultSet read(std::istream& in, const std::function<void(const JsonTree&)>& on_tree = {}) {
    const JsonElements elements{.member = kPoints,
                                .on_header =
                                    [&](const JsonTree& tree) {
                                      check_format(tree, kRecordSchemaName, kRecordSchemaVersion);
                                      if (on_tree) on_tree(tree);
                                      read_header(tree);
                                    },
                                .on_element =
                                    [&](const JsonTree& tree) {
                                      if (on_tree) on_tree(tree);
                                      ++seen_;
                                      visit_(record_, read_point(tree, 0, columns_, record_.sessions.size()));
                                    }};
    finish(parse_json(in, name_, &elements));
    return std::move(record_);
  }

 private:
  /// Called when `points` begins: rows cannot be read before the columns are known, so everything else comes first.
  void read_header(const JsonTree& tree) {
    FieldReader root(tree, 0);
    record_.header = read_header_members(tree, 0);
    root("complete", record_.complete);
    record_.sessions = read_sessions(tree, root.required("sessions"));
    columns_ = read_columns(tree, root.required("trial_columns"));
    root("point_count", point_count_);
  }

  void finish(const JsonTree& root) const {
    check_format(root, kRecordSchemaName, kRecordSchemaVersion);
    const auto points = root.find(0, kPoints);
    if (!points) root.fail(0, "the member \"points\" is missing");
    root.require(*points, JsonKind::array);
    if (seen_ == point_count_) return;
    root.fail(*root.find(0, "point_count"),
              "is " + std::to_string(point_count_) + ", but there are " + std::to_string(seen_) + " points");
  }

  std::string name_;
  PointVisitor visit_;
  ResultSet record_;
  std::vector<TrialColumn> columns_;
  std::size_t point_count_ = 0;
  std::size_t seen_ = 0;
};

}  // namespace

RecordWriter::RecordWriter(std::ostream& stream, const RecordHeader& header, bool complete)
    : stream_(stream), out_(stream) {
  out_.begin_object();
  out_.line_break();
  write_format(out_, kRecordSchemaName, kRecordSchemaVersion);
  write_header_members(out_, header);
  key("complete");
  out_.boolean(complete);
  key("sessions");
  out_.begin_array();
}

void RecordWriter::key(std::string_view name) {
  out_.line_break();
  out_.key(name);
}

void RecordWriter::add_session(const sweep::SessionRecord& session) {
  out_.line_break();
  write_session(out_, session);
}

void RecordWriter::begin_points(std::vector<TrialColumn> columns, std::size_t point_count) {
  columns_ = std::move(columns);
  out_.end_array();
  key("trial_columns");
  write_columns(out_, columns_);
  key("point_count");
  out_.unsigned_integer(point_count);
  key("points");
  out_.begin_array();
}

void RecordWriter::add_point(const PointResult& point) {
  out_.line_break();
  write_point(out_, point, columns_);
}

void RecordWriter::finish() {
  out_.end_array();
  out_.line_break();
  out_.end_object();
  out_.flush();
  stream_.put('\n');
}

void write_record(std::ostream& stream, const ResultSet& record) {
  RecordWriter writer(stream, record.header, record.complete);
  for (const auto& session : record.sessions) writer.add_session(session);
  writer.begin_points(columns_of(record.points), record.points.size());
  for (const auto& point : record.points) writer.add_point(point);
  writer.finish();
}

ResultSet visit_record(std::istream& in, std::string_view name, const PointVisitor& visit) {
  return Reader(name, visit).read(in);
}

ResultSet read_record(std::istream& in, std::string_view name) {
  // Nothing is reserved: point_count is a claim that a few bytes can make.
  std::vector<PointResult> points;
  Reader reader(name, [&points](const ResultSet&, PointResult&& point) { points.push_back(std::move(point)); });
  auto record = reader.read(in);
  record.points = std::move(points);
  return record;
}

void validate(std::istream& in, std::string_view name) {
  SchemaCheck check(name);
  std::size_t shown = 0;
  std::size_t index = 0;
  Reader reader(name,
                [&](const ResultSet& header, PointResult&& point) { check_consistency(name, header, index++, point); });
  (void)reader.read(in, [&](const JsonTree& tree) {
    if (!tree.element) return check.header(tree);
    if (shown++ < kSmallRecord) check.point(tree);
  });
}

}  // namespace mtuscope::records
