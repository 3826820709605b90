#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <clocale>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "file_size_limit.hpp"
#include "mtuscope/records/json.hpp"
#include "mtuscope/records/json_writer.hpp"
#include "mtuscope/records/record_file.hpp"

namespace mtuscope::records {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kResults = fs::path(MTUSCOPE_SOURCE_DIR) / "results";

std::string text_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string example(const std::string& name) { return text_of(kResults / "examples" / (name + ".json")); }

ResultSet read(const std::string& text) {
  std::istringstream in(text);
  return read_record(in, "test.json");
}

void validate_text(const std::string& text) {
  std::istringstream in(text);
  validate(in, "test.json");
}

std::string written(const ResultSet& record) {
  std::ostringstream out;
  write_record(out, record);
  return out.str();
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return at == std::string::npos ? text : text.replace(at, from.size(), to);
}

/// The path of the SchemaError that reading gives; "none" if there is no error.
std::string fault_path(const std::string& text) {
  try {
    (void)read(text);
  } catch (const SchemaError& error) {
    EXPECT_THAT(error.what(), HasSubstr("test.json"));
    return error.json_path();
  }
  return "none";
}

std::vector<fs::path> all_records() {
  std::vector<fs::path> paths;
  for (const auto* folder : {"examples", "reference"}) {
    for (const auto& entry : fs::directory_iterator(kResults / folder)) {
      if (entry.is_regular_file()) paths.push_back(entry.path());
    }
  }
  return paths;
}

TEST(Records, EveryShippedFileIsValidAndComesBackByteForByte) {
  ASSERT_GE(all_records().size(), 12U);
  for (const auto& path : all_records()) {
    SCOPED_TRACE(path.filename().string());
    const auto text = text_of(path);
    EXPECT_NO_THROW(validate_text(text));
    EXPECT_EQ(written(read(text)), text);
  }
}

TEST(Records, FilesOfOlderMinorVersionsAreStillRead) {
  for (const auto* version : {"2.0", "2.1"}) {
    std::size_t files = 0;
    for (const auto& entry : fs::directory_iterator(kResults / "examples" / version)) {
      SCOPED_TRACE(entry.path().string());
      ++files;
      const auto text = text_of(entry.path());
      EXPECT_NO_THROW(validate_text(text));
      const auto record = read(text);
      EXPECT_EQ(written(read(written(record))), written(record));
    }
    EXPECT_EQ(files, 6U) << version;
  }
}

TEST(Records, ValuesArriveWhereTheyBelong) {
  const auto record = read(example("measured"));
  EXPECT_EQ(record.header.source, Source::measured);
  ASSERT_TRUE(record.header.spec);
  EXPECT_EQ(record.header.spec->message_sizes_bytes, (std::vector<std::uint64_t>{1024, 4096}));
  EXPECT_EQ(record.header.initiator->device->ports.at(0).active_mtu, PathMtu::mtu4096);
  EXPECT_EQ(record.sessions.at(1).proof.local_read_back, PathMtu::mtu2048);
  EXPECT_FALSE(record.sessions.at(2).proof.local_read_back) << "a UD QP has no path MTU";
  const auto& first = std::get<Measured>(record.points.at(0).outcome);
  EXPECT_EQ(first.trials.size(), 9U);
  EXPECT_EQ(first.trials.at(8).arrangement, 2U);
  EXPECT_EQ(first.session, 0U);
  const auto pairs = read(example("pair-matrix"));
  ASSERT_FALSE(pairs.header.ranks.empty());
  EXPECT_EQ(pairs.header.ranks.front().name, pairs.points.front().point.pair->initiator);
  EXPECT_TRUE(record.header.ranks.empty());
}

TEST(Records, OneHistogramPerPointIsKept) {
  const auto record = read(example("measured"));
  std::size_t with_latency = 0;
  for (const auto& result : record.points) {
    const auto* measured = std::get_if<Measured>(&result.outcome);
    if (measured == nullptr || !measured->latency) continue;
    ++with_latency;
    EXPECT_EQ(result.point.pattern, Pattern::ping_pong);
    EXPECT_EQ(measured->latency->count(), 9U * 201U);
    EXPECT_EQ(measured->latency->max_ns(), 9008U);
    EXPECT_EQ(measured->trials.at(0).latency, nullptr);
  }
  EXPECT_EQ(with_latency, 4U);
}

TEST(Records, TruncatedAnywhereIsASchemaError) {
  const auto text = example("posted");
  for (std::size_t length = 0; length + 2 < text.size(); ++length) {
    EXPECT_THROW((void)read(text.substr(0, length)), SchemaError) << length;
  }
}

TEST(Records, FaultsAreNamedByTheirPath) {
  const auto text = example("measured");
  EXPECT_EQ(fault_path(replaced(text, "[0,0,0,10000,", "[0,0,\"x\",10000,")), "/points/0/trials/0/2");
  EXPECT_EQ(fault_path(replaced(text, "[0,0,0,10000,", "[0,0,-1,10000,")), "/points/0/trials/0/2");
  EXPECT_EQ(fault_path(replaced(text, ",null],[", "],[")), "/points/0/trials/0");
  EXPECT_EQ(fault_path(replaced(text, "\"path_mtu_bytes\":2048", "\"path_mtu_bytes\":2000")),
            "/points/1/path_mtu_bytes");
  EXPECT_EQ(fault_path(replaced(text, "\"wire_size_bytes\":1024", "\"wire_size_bytes\":1025")),
            "/points/0/wire_size_bytes");
  EXPECT_EQ(fault_path(replaced(text, "\"connection\":\"rc\",\"operation\":\"send\",\"pattern\":\"stream\",", "")),
            "/points/0");
  EXPECT_EQ(fault_path(replaced(text, "\"asked_bytes\":1024", "\"asked_bytes\":true")),
            "/sessions/0/proof/asked_bytes");
  EXPECT_EQ(fault_path(replaced(text, "\"number\":1", "\"number\":4294967296")),
            "/environment/initiator/device/ports/0/number");
  EXPECT_EQ(fault_path(replaced(text, "\"tx_depth\":128", "\"tx_depth\":128,\"tx_depth\":128")), "/plan");
  EXPECT_EQ(fault_path(replaced(text, "\"elapsed_ns\"", "\"elapsed\"")), "/trial_columns");
  EXPECT_EQ(fault_path(replaced(text, "\"outcome\":\"measured\"", "\"outcome\":\"guessed\"")), "/points/0/outcome");
}

TEST(Records, NumbersThatMustAgreeAreChecked) {
  const auto text = example("measured");
  EXPECT_EQ(fault_path(replaced(text, "\"trial_count\":9", "\"trial_count\":8")), "/points/0/summary/trial_count");
  EXPECT_EQ(fault_path(replaced(text, "\"session\":0", "\"session\":4")), "/points/0/session");
  EXPECT_EQ(fault_path(replaced(text, "\"point_count\":16", "\"point_count\":17")), "/point_count");
  EXPECT_EQ(
      fault_path(replaced(text, "\"bandwidth_bytes_per_s\":{\"value\":", "\"bandwidth_bytes_per_s\":{\"value\":1")),
      "/points/0/summary/bandwidth_bytes_per_s");
}

TEST(Records, VersionsAreReadByTheirRule) {
  const auto text = example("posted");
  EXPECT_EQ(fault_path(replaced(text, "2.2.0", "3.0.0")), "/schema/version");
  EXPECT_EQ(fault_path(replaced(text, "mtuscope-record", "other-record")), "/schema/name");
  EXPECT_EQ(fault_path("{\"points\":[]}"), "");
  EXPECT_EQ(fault_path("[]"), "");
  auto newer = replaced(text, "2.2.0", "2.7.0");
  newer = replaced(newer, "\"outcome\"", "\"colour\":{\"of\":[\"later\"]},\"outcome\"");
  newer = replaced(newer, "\"complete\"", "\"mood\":1,\"complete\"");
  EXPECT_EQ(fault_path(newer), "none");
  EXPECT_NO_THROW(validate_text(newer));
}

TEST(Records, UnknownTrialColumnsAreSkipped) {
  auto text = example("model");
  text = replaced(text, "[\"arrangement\",", "[\"later\",\"arrangement\",");
  std::string with_cells;
  bool in_trials = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    in_trials = in_trials ? text.compare(i, 2, "]]") != 0 : text.compare(i, 10, "\"trials\":[") == 0;
    with_cells += text[i];
    if (in_trials && text[i] == '[' && text[i + 1] != '[') with_cells += "null,";
  }
  EXPECT_EQ(written(read(with_cells)), example("model"));
}

TEST(Records, HostileInputIsRefused) {
  EXPECT_EQ(fault_path(std::string(100, '[')).substr(0, 6), "/0/0/0");
  EXPECT_THROW((void)read("{\"a\":\"" + std::string(40U << 20U, 'x') + "\"}"), SchemaError);
  EXPECT_EQ(fault_path("{\"a\":1,\"a\":2}"), "");
  EXPECT_THROW((void)read("{\"a\":1e999}"), SchemaError);
  EXPECT_THROW((void)read("{\"a\":\"\xff\"}"), SchemaError);
  EXPECT_THROW((void)read(example("posted") + "{}"), SchemaError);
  std::string wide = "{\"k0\":0";
  for (int i = 1; i < 2000; ++i) wide += ",\"k" + std::to_string(i) + "\":0";
  EXPECT_THROW((void)read(wide + "}"), SchemaError);
}

TEST(Records, ThePublishedSchemaSeesWhatTheReaderToleratesInSmallFiles) {
  const auto text = replaced(example("posted"), "\"complete\":true", "\"complete\":true,\"created_utc_\":1");
  EXPECT_NO_THROW(validate_text(text));
  try {
    validate_text(replaced(example("measured"), "\"name\":\"mtuscope\",", ""));
    FAIL() << "tool.name is required by the schema alone";
  } catch (const SchemaError& error) {
    EXPECT_EQ(error.json_path(), "/tool");
  }
}

TEST(Records, PointsCanBeVisitedWithoutBeingKept) {
  std::istringstream in(example("measured"));
  std::size_t count = 0;
  const auto header = visit_record(in, "test.json", [&](const ResultSet& so_far, PointResult&&) {
    EXPECT_EQ(so_far.sessions.size(), 4U);
    ++count;
  });
  EXPECT_EQ(count, 16U);
  EXPECT_TRUE(header.points.empty());
}

/// The path of the SchemaError that `validate` gives; "none" if there is no error.
std::string invalid_path(const std::string& text) {
  try {
    validate_text(text);
  } catch (const SchemaError& error) {
    return error.json_path();
  }
  return "none";
}

TEST(Records, ASummaryThatDoesNotFollowFromItsTrialsIsFoundByItsPath) {
  const auto text = example("measured");
  EXPECT_EQ(invalid_path(text), "none");
  const auto spoiled = [&text](const std::string& member, const std::string& insertion) {
    return invalid_path(replaced(text, member, member + insertion));
  };
  EXPECT_EQ(spoiled("\"message_rate_per_s\":{\"value\":", "1"), "/points/0/summary/message_rate_per_s/value");
  EXPECT_EQ(spoiled("\"within_variation\":", "1"), "/points/0/summary/within_variation");
  EXPECT_EQ(spoiled("\"arrangement_count\":", "1"), "/points/0/summary/arrangement_count");
  EXPECT_EQ(invalid_path(replaced(text, "\"arrangement_count\":3,", "\"arrangement_count\":3,\"loss_fraction\":0,")),
            "/points/0/summary/loss_fraction");
  EXPECT_EQ(invalid_path(replaced(text, "\"exact\":false", "\"exact\":true")), "/points/0/summary/exact");
  EXPECT_EQ(invalid_path(replaced(text, "[0,0,0,10000,", "[0,0,0,0,")), "/points/0/trials/0");
  EXPECT_EQ(invalid_path(replaced(text, "\"session\":0", "\"session\":1")), "/points/0/session");
  EXPECT_EQ(invalid_path(replaced(example("posted"), "\"trial_count\":0", "\"trial_count\":3")),
            "/points/0/summary/trial_count");
}

TEST(Records, ALatencyThatDoesNotFollowFromItsHistogramIsFound) {
  const auto text = example("measured");
  const auto at = text.find("\"p50_ns\":");
  ASSERT_NE(at, std::string::npos);
  const auto path = invalid_path(std::string(text).insert(at + 9, "1"));
  EXPECT_THAT(path, testing::EndsWith("/summary/latency_distribution/p50_ns"));
}

TEST(Records, AHistogramCannotCountMoreThanItsCounterHolds) {
  const auto path =
      fault_path(replaced(example("measured"), "\"buckets\":[[", "\"buckets\":[[1,18446744073709551615],["));
  EXPECT_THAT(path, testing::MatchesRegex("/points/[0-9]+/latency_histogram/buckets/1/1"));
}

TEST(RecordFile, AFullDiskLeavesTheOldRecordAndNothingElse) {
  const auto folder = fs::path(testing::TempDir()) / "mtuscope_full_disk_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto path = (folder / "record.json").string();
  write_record_file(path, read(example("posted")));
  const auto larger = read(example("measured"));
  {
    const FileSizeLimit limit(2000);
    EXPECT_THROW(write_record_file(path, larger), RunError);
  }
  EXPECT_EQ(text_of(path), example("posted"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 1);
  fs::remove_all(folder);
}

TEST(RecordFile, IsReplacedAsAWholeOrNotAtAll) {
  const auto folder = fs::path(testing::TempDir()) / "mtuscope_record_file_test";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const auto path = (folder / "record.json").string();
  const auto record = read(example("posted"));
  EXPECT_NO_THROW(check_writable(path));
  EXPECT_TRUE(fs::is_empty(folder));
  write_record_file(path, record);
  EXPECT_EQ(text_of(path), example("posted"));
  fs::create_symlink("record.json", folder / "link.json");
  write_record_file((folder / "link.json").string(), read(example("model")));
  EXPECT_TRUE(fs::is_symlink(folder / "link.json"));
  EXPECT_EQ(text_of(path), example("model"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), fs::directory_iterator()), 2);
  EXPECT_THROW(check_writable((folder / "missing" / "x.json").string()), ConfigError);
  EXPECT_THROW(check_writable(folder.string()), ConfigError);
  EXPECT_THROW(write_record_file((folder / "missing" / "x.json").string(), record), RunError);
  EXPECT_THROW(write_record_file("/dev/full", record), RunError);
  EXPECT_THROW((void)read_record_file((folder / "missing.json").string()), ConfigError);
  fs::remove_all(folder);
}

TEST(JsonWriter, WritesWhatJsonCanSay) {
  std::ostringstream text;
  {
    JsonWriter out(text);
    out.begin_array();
    out.number(0.1);
    out.number(std::numeric_limits<double>::quiet_NaN());
    out.number(-std::numeric_limits<double>::infinity());
    out.number(-0.0);
    out.unsigned_integer(std::numeric_limits<std::uint64_t>::max());
    out.integer(std::numeric_limits<std::int64_t>::min());
    out.string("\"\\\n\x01\xc3\xa9\xff\xed\xa0\x80");
    out.begin_object();
    out.end_object();
    out.end_array();
  }
  EXPECT_EQ(text.str(),
            "[0.1,null,null,-0.0,18446744073709551615,-9223372036854775808,"
            "\"\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\",{}]");
}

}  // namespace
}  // namespace mtuscope::records
