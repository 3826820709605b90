#include "mtuscope/records/json.hpp"

#include <ostream>

#include "mtuscope/records/consistency.hpp"
#include "mtuscope/records/header_json.hpp"
#include "mtuscope/records/json_fields.hpp"
#include "mtuscope/records/json_writer.hpp"
#include "mtuscope/records/point_json.hpp"
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
    const auto sessions = root.required("sessions");
    tree.require(sessions, JsonKind::array);
    for (auto item = sessions + 1; item < tree.nodes[sessions].end; item = tree.nodes[item].end) {
      record_.sessions.push_back(read_session(tree, item));
    }
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

void write_record(std::ostream& stream, const ResultSet& record) {
  JsonWriter out(stream);
  const auto columns = columns_of(record.points);
  const auto key = [&out](std::string_view name) {
    out.line_break();
    out.key(name);
  };
  out.begin_object();
  key("schema");
  out.begin_object();
  out.key("name");
  out.string(kRecordSchemaName);
  out.key("version");
  out.string(kRecordSchemaVersion);
  out.end_object();
  write_header_members(out, record.header);
  key("complete");
  out.boolean(record.complete);
  key("sessions");
  out.begin_array();
  for (const auto& session : record.sessions) {
    out.line_break();
    write_session(out, session);
  }
  out.end_array();
  key("trial_columns");
  write_columns(out, columns);
  key("point_count");
  out.unsigned_integer(record.points.size());
  key("points");
  out.begin_array();
  for (const auto& point : record.points) {
    out.line_break();
    write_point(out, point, columns);
  }
  out.end_array();
  out.line_break();
  out.end_object();
  out.flush();
  stream.put('\n');
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
