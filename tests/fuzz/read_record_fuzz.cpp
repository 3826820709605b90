// Any bytes are either a record that is written and read back unchanged, or a SchemaError.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <sstream>
#include <string>

#include "mtuscope/records/json.hpp"

namespace {
std::string written(const mtuscope::records::ResultSet& record) {
  std::ostringstream out;
  mtuscope::records::write_record(out, record);
  return out.str();
}

mtuscope::records::ResultSet read(const std::string& text) {
  std::istringstream in(text);
  return mtuscope::records::read_record(in, "fuzz");
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  mtuscope::records::ResultSet record;
  try {
    record = read(std::string(reinterpret_cast<const char*>(data), size));
  } catch (const mtuscope::SchemaError&) {
    return 0;
  }
  // Outside the try: what we wrote ourselves must be readable.
  const auto text = written(record);
  if (written(read(text)) != text) std::abort();
  return 0;
}
