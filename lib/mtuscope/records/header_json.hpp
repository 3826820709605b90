#pragma once
#include <string>
#include <utility>
#include <vector>

#include "mtuscope/records/json_tree.hpp"
#include "mtuscope/records/json_writer.hpp"
#include "mtuscope/records/result_set.hpp"

/// The part of a record before its points, and what a journal shares with it.
namespace mtuscope::records {

/// The members source ... environment of the open object.
void write_header_members(JsonWriter& out, const RecordHeader& header);
/// Throws SchemaError.
[[nodiscard]] RecordHeader read_header_members(const JsonTree& tree, std::uint32_t object);

void write_environment(JsonWriter& out, const Environment& environment);
/// Throws SchemaError.
[[nodiscard]] Environment read_environment(const JsonTree& tree, std::uint32_t node);

void write_session(JsonWriter& out, const sweep::SessionRecord& session);
[[nodiscard]] sweep::SessionRecord read_session(const JsonTree& tree, std::uint32_t node);

/// Every element of the array `sessions`. Throws SchemaError.
[[nodiscard]] std::vector<sweep::SessionRecord> read_sessions(const JsonTree& tree, std::uint32_t node);

/// The member `schema` of the open object: a format's name and version.
void write_format(JsonWriter& out, std::string_view name, std::string_view version);
/// Throws SchemaError unless `schema` of the root names this format and a major version we read.
void check_format(const JsonTree& tree, std::string_view name, std::string_view version);

/// The members of the plan in which two plans differ, as "name: saved -> wanted"; at most a few.
[[nodiscard]] std::string plan_differences(const sweep::SweepSpec& saved, const sweep::SweepSpec& wanted);

}  // namespace mtuscope::records
