#include "mtuscope/records/pair_journal.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/records/header_json.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/records/json_fields.hpp"

namespace mtuscope::records {
namespace {

constexpr std::string_view kName = "mtuscope-pair-journal";
constexpr std::string_view kVersion = "1.0.0";

std::ifstream open_journal(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError("cannot read " + path + ": " + error_text(errno) + "; there is nothing to resume");
  return in;
}

/// A pair's line while it is read: its points pass by one at a time, as those of a record do.
class LineReader {
 public:
  PairResult read(const std::string& line, std::string_view name) {
    std::istringstream text(line);
    const JsonElements elements{.member = "points",
                                .on_header = [this](const JsonTree& tree) { read_header(tree); },
                                .on_element =
                                    [this](const JsonTree& tree) {
                                      auto point = read_point(tree, 0, columns_, result_.sessions.size());
                                      result_.points.push_back(std::move(point));
                                    }};
    const auto root = parse_json(text, name, &elements);
    if (!has_points_) root.fail(0, "the member \"points\" is missing");
    return std::move(result_);
  }

 private:
  void read_header(const JsonTree& tree) {
    has_points_ = true;
    FieldReader root(tree, 0);
    root("round", result_.round);
    root("initiator", result_.ranks.initiator);
    root("responder", result_.ranks.responder);
    result_.sessions = read_sessions(tree, root.required("sessions"));
    columns_ = read_columns(tree, root.required("trial_columns"));
  }

  PairResult result_;
  std::vector<TrialColumn> columns_;
  bool has_points_ = false;
};

}  // namespace

std::string pair_journal_header(const RecordHeader& header) {
  return journal_line([&](JsonWriter& out) {
    write_format(out, kName, kVersion);
    write_header_members(out, header);
  });
}

std::string pair_journal_line(const PairResult& result) {
  return journal_line([&](JsonWriter& out) {
    FieldWriter member(out);
    member("round", result.round);
    member("initiator", result.ranks.initiator);
    member("responder", result.ranks.responder);
    out.key("sessions");
    out.begin_array();
    for (const auto& session : result.sessions) write_session(out, session);
    out.end_array();
    const auto columns = columns_of(result.points);
    out.key("trial_columns");
    write_columns(out, columns);
    out.key("points");
    out.begin_array();
    for (const auto& point : result.points) write_point(out, point, columns);
    out.end_array();
  });
}

RecordHeader read_pair_journal_header(const std::string& line, std::string_view name) {
  std::istringstream text(line);
  const auto tree = parse_json(text, name);
  check_format(tree, kName, kVersion);
  return read_header_members(tree, 0);
}

PairResult read_pair_journal_line(const std::string& line, std::string_view name) {
  return LineReader{}.read(line, name);
}

PairJournalIndex index_pair_journal(const std::string& path) {
  auto in = open_journal(path);
  PairJournalIndex index;
  std::set<sweep::RankPair> seen;
  std::uint64_t offset_bytes = 0;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line) && !in.eof(); offset_bytes += line.size() + 1) {
    const auto name = path + " line " + std::to_string(++number);
    if (number == 1) {
      index.header = read_pair_journal_header(line, name);
      continue;
    }
    const auto ranks = read_pair_journal_line(line, name).ranks;
    const auto count = index.header.ranks.size();
    if (ranks.initiator >= count || ranks.responder >= count || ranks.initiator == ranks.responder) {
      throw SchemaError(name, "/initiator", "there are no such two ranks in the first line");
    }
    if (!seen.insert(ranks).second) throw SchemaError(name, "/initiator", "the pair is there twice");
    index.entries.push_back({ranks, offset_bytes});
  }
  if (number == 0) throw SchemaError(path, "", "the journal is empty; delete it and start the run afresh");
  std::sort(index.entries.begin(), index.entries.end(), [](const auto& a, const auto& b) { return a.ranks < b.ranks; });
  return index;
}

void visit_pair_journal(const std::string& path, const PairJournalIndex& index,
                        const std::function<void(PairResult&& result)>& visit) {
  auto in = open_journal(path);
  const auto& ranks = index.header.ranks;
  for (const auto& entry : index.entries) {
    in.seekg(static_cast<std::streamoff>(entry.offset_bytes));
    std::string line;
    if (!std::getline(in, line)) throw RunError("cannot read " + path + " again: did another program change it?");
    auto result = read_pair_journal_line(line, path);
    const Pair pair{ranks.at(entry.ranks.initiator).name, ranks.at(entry.ranks.responder).name};
    for (auto& point : result.points) point.point.pair = pair;
    visit(std::move(result));
  }
}

void write_pair_record(std::ostream& out, const std::string& path, const PairJournalIndex& index, bool complete) {
  RecordWriter writer(out, index.header, complete);
  std::set<TrialColumn> used;
  std::size_t point_count = 0;
  visit_pair_journal(path, index, [&](PairResult&& result) {
    for (const auto& session : result.sessions) writer.add_session(session);
    const auto columns = columns_of(result.points);
    used.insert(columns.begin(), columns.end());
    point_count += result.points.size();
  });
  writer.begin_points({used.begin(), used.end()}, point_count);
  std::uint32_t first_session = 0;
  visit_pair_journal(path, index, [&](PairResult&& result) {
    for (auto& point : result.points) {
      if (auto* measured = std::get_if<Measured>(&point.outcome); measured != nullptr && measured->session) {
        *measured->session += first_session;
      }
      writer.add_point(point);
    }
    first_session += static_cast<std::uint32_t>(result.sessions.size());
  });
  writer.finish();
}

}  // namespace mtuscope::records
