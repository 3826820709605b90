#include "mtuscope/records/journal.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/records/header_json.hpp"
#include "mtuscope/records/json_fields.hpp"
#include "mtuscope/records/point_json.hpp"

namespace mtuscope::records {
namespace {

constexpr std::string_view kJournalName = "mtuscope-journal";
constexpr std::string_view kJournalVersion = "2.2.0";

std::string first_line(const RecordHeader& header, const std::vector<Point>& points) {
  return journal_line([&](JsonWriter& out) {
    write_format(out, kJournalName, kJournalVersion);
    write_header_members(out, header);
    out.key("points");
    out.begin_array();
    for (const auto& point : points) write_identity(out, point);
    out.end_array();
  });
}

/// A journal in memory.
struct Contents {
  RecordHeader header;
  std::vector<Point> points;
  sweep::Resume resume;
};

/// Point by point, because a long plan has more values than are kept at a time.
void read_first_line(std::istream& line, const std::string& name, Contents& contents) {
  bool has_points = false;
  const JsonElements elements{
      .member = "points",
      .on_header =
          [&](const JsonTree& tree) {
            has_points = true;
            check_format(tree, kJournalName, kJournalVersion);
            contents.header = read_header_members(tree, 0);
          },
      .on_element = [&](const JsonTree& tree) { contents.points.push_back(read_identity(tree, 0)); }};
  const auto root = parse_json(line, name, &elements);
  check_format(root, kJournalName, kJournalVersion);
  if (!has_points) root.fail(0, "the member \"points\" is missing");
  contents.resume.trials.resize(contents.points.size());
  contents.resume.outcomes.resize(contents.points.size());
}

void read_event(const JsonTree& tree, Contents& contents) {
  FieldReader root(tree, 0, Absent::left_out);
  if (const auto session = root.find("session")) {
    contents.resume.sessions.push_back(read_session(tree, *session));
    return;
  }
  if (const auto responder = root.find("responder")) {
    contents.header.responder = read_environment(tree, *responder);
    return;
  }
  const auto index_node = root.required("point");
  const auto index = tree.get_unsigned(index_node, UINT32_MAX);
  if (index >= contents.points.size()) tree.fail(index_node, "there is no such point in the first line");
  if (const auto node = root.find("trial")) {
    auto trial = read_trial(tree, *node);
    if (trial.messages == 0 || trial.elapsed_ns == 0) tree.fail(*node, "a trial of no messages or no time is no trial");
    auto& trials = contents.resume.trials[index];
    for (const auto& other : trials) {
      if (other.round == trial.round) tree.fail(*node, "the point has a trial of this round already");
    }
    trials.push_back(std::move(trial));
    return;
  }
  const auto node = root.required("result");
  auto outcome = read_outcome(tree, node);
  const auto* measured = std::get_if<Measured>(&outcome);
  if (measured != nullptr && measured->session && *measured->session >= contents.resume.sessions.size()) {
    tree.fail(node, "there is no session " + std::to_string(*measured->session) + " above this line");
  }
  contents.resume.outcomes[index] = std::move(outcome);
}

/// The trials were lines of their own; an outcome gets them back.
void join_trials(Contents& contents) {
  for (std::size_t i = 0; i < contents.points.size(); ++i) {
    auto& outcome = contents.resume.outcomes[i];
    if (!outcome) continue;
    if (auto* measured = std::get_if<Measured>(&*outcome)) measured->trials = contents.resume.trials[i];
    if (auto* failed = std::get_if<Failed>(&*outcome)) failed->trials = contents.resume.trials[i];
  }
}

Contents read_contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError("cannot read " + path + ": " + error_text(errno) + "; there is nothing to resume");
  Contents contents;
  std::string line;
  std::size_t number = 0;
  while (std::getline(in, line)) {
    if (in.eof()) break;  // no line feed: the process died while writing this line
    const auto name = path + " line " + std::to_string(++number);
    std::istringstream text(line);
    number == 1 ? read_first_line(text, name, contents) : read_event(parse_json(text, name), contents);
  }
  if (number == 0) throw SchemaError(path, "", "the journal is empty; delete it and start the run afresh");
  join_trials(contents);
  return contents;
}

/// Limits that only say when to stop may differ, but the record will state the new ones for the old trials too.
void warn_of_other_limits(const std::string& path, const sweep::StopRule& before, const sweep::StopRule& now) {
  if (before.relative_interval == now.relative_interval && before.max_trials == now.max_trials) return;
  log(LogLevel::warning, path + " was begun with --ci " + std::to_string(100 * before.relative_interval) +
                             "% and --max-trials " + std::to_string(before.max_trials) +
                             "; from here on this command's hold, and the record states them");
}

}  // namespace

Journal::Journal(std::string path, Mode mode, const RecordHeader& header, const std::vector<Point>& points)
    : file_(std::move(path), mode, mode == Mode::start ? first_line(header, points) : std::string{}) {}

void Journal::on_responder(const Environment& responder) {
  file_.append(journal_line([&](JsonWriter& out) {
    out.key("responder");
    write_environment(out, responder);
  }));
}

void Journal::on_session(const sweep::SessionRecord& session) {
  file_.append(journal_line([&](JsonWriter& out) {
    out.key("session");
    write_session(out, session);
  }));
}

void Journal::on_trial(std::size_t point_index, const Trial& trial) {
  file_.append(journal_line([&](JsonWriter& out) {
    out.key("point");
    out.unsigned_integer(point_index);
    out.key("trial");
    write_trial(out, trial);
  }));
}

void Journal::on_outcome(std::size_t point_index, const Outcome& outcome) {
  file_.append(journal_line([&](JsonWriter& out) {
    out.key("point");
    out.unsigned_integer(point_index);
    out.key("result");
    write_outcome(out, outcome);
  }));
}

sweep::Resume load_journal(const std::string& path, const sweep::SweepSpec& spec, const std::vector<Point>& points) {
  auto contents = read_contents(path);
  const auto& saved = contents.header.spec;
  if (!saved) throw SchemaError(path + " line 1", "/plan", "a journal without a plan cannot be continued");
  if (sweep::plan_hash(*saved) != sweep::plan_hash(spec) || contents.points != points) {
    const auto differences = plan_differences(*saved, spec);
    throw ConfigError(path + " belongs to another plan (" + (differences.empty() ? "the points differ" : differences) +
                      "); repeat the options of the killed run, or delete the journal");
  }
  warn_of_other_limits(path, saved->stop, spec.stop);
  contents.resume.responder = std::move(contents.header.responder);
  return std::move(contents.resume);
}

ResultSet read_journal(const std::string& path) {
  auto contents = read_contents(path);
  ResultSet record;
  record.complete = false;
  record.sessions = std::move(contents.resume.sessions);
  const bool deterministic = contents.header.source == Source::model;
  record.header = std::move(contents.header);
  for (std::size_t i = 0; i < contents.points.size(); ++i) {
    auto& result =
        record.points.emplace_back(PointResult{contents.points[i], Skipped{"the run was killed before this point"}});
    auto& trials = contents.resume.trials[i];
    if (contents.resume.outcomes[i]) {
      result.outcome = std::move(*contents.resume.outcomes[i]);
    } else if (!trials.empty()) {
      Measured measured;
      measured.summary = sweep::summarise(result.point, trials, deterministic);
      measured.trials = std::move(trials);
      measured.note = "the run was killed before this point was finished";
      result.outcome = std::move(measured);
    }
  }
  return record;
}

}  // namespace mtuscope::records
