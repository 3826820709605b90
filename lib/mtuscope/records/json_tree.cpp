#include "mtuscope/records/json_tree.hpp"

#include <algorithm>
#include <array>

namespace mtuscope::records {
namespace {

std::string message(std::string_view file_name, const std::string& path, std::string_view fault) {
  std::string text{file_name};
  text.append(": ").append(path.empty() ? "" : path + ": ").append(fault);
  return text;
}

/// RFC 6901: "~" is written "~0", "/" is written "~1".
void append_escaped(std::string& path, std::string_view key) {
  for (const char c : key) {
    if (c == '~') {
      path += "~0";
    } else if (c == '/') {
      path += "~1";
    } else {
      path += c;
    }
  }
}

std::string_view name_of(JsonKind kind) noexcept {
  static constexpr std::array<std::string_view, 8> kNames{
      "null",     "true or false", "an unsigned integer", "a negative integer",
      "a number", "a string",      "an object",           "an array"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace

SchemaError::SchemaError(std::string_view file_name, std::string json_path, std::string_view fault)
    : ConfigError(message(file_name, json_path, fault)), json_path_(std::move(json_path)) {}

std::string JsonTree::path(std::uint32_t index) const {
  std::string pointer = base_path;
  if (element) pointer.append("/").append(std::to_string(*element));
  std::uint32_t at = 0;
  while (at < index) {
    const bool in_object = nodes[at].kind == JsonKind::object;
    std::uint64_t position = 0;
    std::uint32_t child = at + 1;
    for (; nodes[child].end <= index; child = nodes[child].end) ++position;
    pointer += '/';
    if (in_object) {
      append_escaped(pointer, key(child));
    } else {
      pointer += std::to_string(position);
    }
    at = child;
  }
  return pointer;
}

void JsonTree::fail(std::uint32_t index, std::string_view fault) const {
  throw SchemaError(file_name, path(index), fault);
}

std::optional<std::uint32_t> JsonTree::find(std::uint32_t index, std::string_view name) const noexcept {
  if ((nodes[index].unsigned_integer & key_bit(name)) == 0) return std::nullopt;
  const auto end = std::min<std::size_t>(nodes[index].end, nodes.size());  // it may still be open
  for (std::uint32_t child = index + 1; child < end; child = nodes[child].end) {
    if (key(child) == name) return child;
  }
  return std::nullopt;
}

void JsonTree::require(std::uint32_t index, JsonKind kind) const {
  if (nodes[index].kind == kind) return;
  fail(index, std::string("expected ").append(name_of(kind)).append(", found ").append(name_of(nodes[index].kind)));
}

std::uint64_t JsonTree::get_unsigned(std::uint32_t index, std::uint64_t largest) const {
  require(index, JsonKind::unsigned_integer);
  const auto value = nodes[index].unsigned_integer;
  if (value > largest) {
    fail(index, std::to_string(value) + " is above the largest value allowed here, " + std::to_string(largest));
  }
  return value;
}

std::int64_t JsonTree::get_integer(std::uint32_t index) const {
  if (nodes[index].kind == JsonKind::integer) return nodes[index].integer;
  return static_cast<std::int64_t>(get_unsigned(index, INT64_MAX));
}

double JsonTree::get_number(std::uint32_t index) const {
  const auto& node = nodes[index];
  if (node.kind == JsonKind::unsigned_integer) return static_cast<double>(node.unsigned_integer);
  if (node.kind == JsonKind::integer) return static_cast<double>(node.integer);
  require(index, JsonKind::number);
  return node.number;
}

bool JsonTree::get_boolean(std::uint32_t index) const {
  require(index, JsonKind::boolean);
  return nodes[index].boolean;
}

std::string_view JsonTree::get_string(std::uint32_t index) const {
  require(index, JsonKind::string);
  return string(index);
}

}  // namespace mtuscope::records
