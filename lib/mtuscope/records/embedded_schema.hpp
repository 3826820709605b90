#pragma once
#include <string_view>

namespace mtuscope::records {

/// results/schema/mtuscope-record-2.2.schema.json, compiled in so that it is there without the source tree.
extern const std::string_view kEmbeddedRecordSchema;

}  // namespace mtuscope::records
