// Any bytes are either a record that is written and read back unchanged, or a SchemaError. A record may still
// contradict itself, and that too is a SchemaError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "mtuscope/records/consistency.hpp"
#include "mtuscope/records/json.hpp"

namespace {

using namespace mtuscope::records;

std::string written(const ResultSet& record) {
  std::ostringstream out;
  write_record(out, record);
  return out.str();
}

ResultSet read(const std::string& text) {
  std::istringstream in(text);
  return read_record(in, "fuzz");
}

void check_points(const ResultSet& record) {
  for (std::size_t i = 0; i < record.points.size(); ++i) check_consistency("fuzz", record, i, record.points[i]);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ResultSet record;
  try {
    record = read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const SchemaError&) {
    return 0;
  }
  // Outside of a try: what we wrote ourselves must be readable.
  const auto text = written(record);
  if (written(read(text)) != text) std::abort();
  try {
    check_points(record);
  } catch (const SchemaError&) {
    return 0;
  }
  return 0;
}
