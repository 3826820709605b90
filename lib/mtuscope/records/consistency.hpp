#pragma once
#include <cstddef>
#include <string_view>

#include "mtuscope/records/result_set.hpp"

namespace mtuscope::records {

/// Checks what one point says against itself and against the record's header: trials took time, every number of the
/// summary that is stated follows from the trials (to a relative 1e-9), "exact" is said of a model only, and the
/// session it names had its connection and path MTU. `index` is the point's place in `points`, `file_name` names the
/// file in errors. Throws SchemaError at the first fault.
void check_consistency(std::string_view file_name, const ResultSet& header, std::size_t index,
                       const PointResult& result);

}  // namespace mtuscope::records
