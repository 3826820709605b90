#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "mtuscope/records/json_tree.hpp"

namespace mtuscope::records {

/// The published JSON schema (draft-07) of a record, as in results/schema/.
[[nodiscard]] std::string_view record_schema_text() noexcept;

/// Holds parts of a record against the published schema, one part at a time, so that no record is a document in memory.
class SchemaCheck {
 public:
  explicit SchemaCheck(std::string_view file_name);
  SchemaCheck(const SchemaCheck&) = delete;
  SchemaCheck& operator=(const SchemaCheck&) = delete;
  ~SchemaCheck();
  /// Everything up to `points`. Throws SchemaError at the first fault.
  void header(const JsonTree& tree) const;
  /// One element of `points`. Throws SchemaError at the first fault.
  void point(const JsonTree& tree) const;

 private:
  struct Schemas;
  std::unique_ptr<const Schemas> schemas_;
  std::string file_name_;
};

}  // namespace mtuscope::records
