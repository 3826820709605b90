#include "mtuscope/records/header_json.hpp"

#include <array>
#include <charconv>
#include <sstream>

#include "mtuscope/records/header_fields.hpp"

namespace mtuscope::records {
namespace {

// How rounds are ordered is not a choice, but a reader of the file should not have to look it up.
constexpr std::string_view kOrder =
    "groups that differ in path MTU only (of a directional sweep: in path MTU, pass and size), "
    "shuffled by (seed, round); A B B A within a group";

std::string hex(std::uint64_t value) {
  std::array<char, 16> space;
  const auto end = std::to_chars(space.data(), space.data() + space.size(), value, 16).ptr;
  const std::string digits(space.data(), end);
  return std::string(16 - digits.size(), '0') + digits;
}

void write_plan(JsonWriter& out, const std::optional<sweep::SweepSpec>& spec) {
  out.key("plan");
  if (!spec) return out.null();
  out.begin_object();
  FieldWriter members(out);
  visit_fields(members, *spec);
  members("plan_hash", hex(sweep::plan_hash(*spec)));
  out.key("order");
  out.string(kOrder);
  out.end_object();
}

/// The hash is not compared with the plan's: a newer minor version may hash members that we do not know.
std::optional<sweep::SweepSpec> read_plan(FieldReader& root) {
  const auto& tree = root.tree();
  const auto node = root.required("plan");
  if (tree.nodes[node].kind == JsonKind::null) return std::nullopt;
  sweep::SweepSpec spec;
  root.read(node, spec);
  FieldReader members(tree, node);
  const auto text = tree.get_string(members.required("plan_hash"));
  std::uint64_t hash = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), hash, 16);
  if (text.size() != 16 || error != std::errc{} || end != text.data() + text.size()) {
    tree.fail(*tree.find(node, "plan_hash"), "expected 16 hexadecimal digits");
  }
  return spec;
}

/// One member of a struct as JSON text.
class TextCollector {
 public:
  template <class T>
  void added(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  template <class T>
  void operator()(std::string_view name, const T& value) {
    std::ostringstream text;
    {
      JsonWriter out(text);
      FieldWriter(out).write(value);
    }
    members.emplace_back(name, text.str());
  }
  std::vector<std::pair<std::string, std::string>> members;
};

}  // namespace

void write_header_members(JsonWriter& out, const RecordHeader& header) {
  FieldWriter member(out);
  const auto on_new_line = [&](std::string_view name, const auto& value) {
    out.line_break();
    member(name, value);
  };
  on_new_line("source", header.source);
  out.line_break();
  out.key("tool");
  out.begin_object();
  out.key("name");
  out.string("mtuscope");
  member("version", header.mtuscope_version);
  member("git_revision", header.git_revision);
  member("command_line", header.command_line);
  out.end_object();
  on_new_line("backend", header.backend);
  on_new_line("created_utc", header.created_utc);
  on_new_line("provenance", header.provenance);
  out.line_break();
  write_plan(out, header.spec);
  if (header.pairs) on_new_line("pairs", header.pairs);
  out.line_break();
  out.key("environment");
  out.begin_object();
  on_new_line("initiator", header.initiator);
  on_new_line("responder", header.responder);
  if (!header.ranks.empty()) on_new_line("ranks", header.ranks);
  out.end_object();
}

RecordHeader read_header_members(const JsonTree& tree, std::uint32_t object) {
  FieldReader root(tree, object);
  RecordHeader header;
  root("source", header.source);
  FieldReader tool(tree, root.required("tool"));
  tool("version", header.mtuscope_version);
  tool("git_revision", header.git_revision);
  tool("command_line", header.command_line);
  root("backend", header.backend);
  root("created_utc", header.created_utc);
  root("provenance", header.provenance);
  header.spec = read_plan(root);
  if (const auto pairs = root.find("pairs")) root.read(*pairs, header.pairs);
  FieldReader environment(tree, root.required("environment"));
  environment("initiator", header.initiator);
  environment("responder", header.responder);
  if (const auto ranks = environment.find("ranks")) environment.read(*ranks, header.ranks);
  return header;
}

void write_environment(JsonWriter& out, const Environment& environment) { FieldWriter(out).write(environment); }

Environment read_environment(const JsonTree& tree, std::uint32_t node) {
  Environment environment;
  FieldReader members(tree, node);
  visit_fields(members, environment);
  return environment;
}

void write_session(JsonWriter& out, const sweep::SessionRecord& session) { FieldWriter(out).write(session); }

sweep::SessionRecord read_session(const JsonTree& tree, std::uint32_t node) {
  sweep::SessionRecord session;
  FieldReader members(tree, node);
  visit_fields(members, session);
  return session;
}

std::vector<sweep::SessionRecord> read_sessions(const JsonTree& tree, std::uint32_t node) {
  tree.require(node, JsonKind::array);
  std::vector<sweep::SessionRecord> sessions;
  for (auto item = node + 1; item < tree.nodes[node].end; item = tree.nodes[item].end) {
    sessions.push_back(read_session(tree, item));
  }
  return sessions;
}

void write_format(JsonWriter& out, std::string_view name, std::string_view version) {
  out.key("schema");
  out.begin_object();
  out.key("name");
  out.string(name);
  out.key("version");
  out.string(version);
  out.end_object();
}

void check_format(const JsonTree& tree, std::string_view name, std::string_view version) {
  tree.require(0, JsonKind::object);
  const auto schema = tree.find(0, "schema");
  if (!schema) tree.fail(0, std::string("the member \"schema\" is missing: this is no ").append(name));
  FieldReader members(tree, *schema);
  const auto name_node = members.required("name");
  const auto version_node = members.required("version");
  if (tree.get_string(name_node) != name) tree.fail(name_node, std::string("expected \"").append(name).append("\""));
  const auto found = tree.get_string(version_node);
  const auto major = [](std::string_view text) { return text.substr(0, text.find('.')); };
  if (major(found) == major(version)) return;
  tree.fail(version_node, "version " + std::string(found) + " is not readable here; this program reads " +
                              std::string(major(version)) + ".x: use the release that wrote the file");
}

std::string plan_differences(const sweep::SweepSpec& saved, const sweep::SweepSpec& wanted) {
  constexpr std::size_t kShown = 4;
  constexpr std::size_t kTextBytes = 60;
  TextCollector before;
  TextCollector after;
  visit_fields(before, saved);
  visit_fields(after, wanted);
  std::string text;
  std::size_t shown = 0;
  for (std::size_t i = 0; i < before.members.size() && shown < kShown; ++i) {
    const auto& [name, old_value] = before.members[i];
    const auto& new_value = after.members[i].second;
    if (old_value == new_value) continue;
    ++shown;
    text.append(text.empty() ? "" : "; ").append(name).append(": ");
    text.append(old_value.substr(0, kTextBytes)).append(" -> ").append(new_value.substr(0, kTextBytes));
  }
  return text;
}

}  // namespace mtuscope::records
