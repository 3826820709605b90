#pragma once
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/error.hpp"

namespace mtuscope::records {

/// A file is not what its format says. `json_path()` is the JSON pointer (RFC 6901) of the fault, "" for the whole
/// file.
class SchemaError : public ConfigError {
 public:
  SchemaError(std::string_view file_name, std::string json_path, std::string_view fault);
  [[nodiscard]] const std::string& json_path() const noexcept { return json_path_; }

 private:
  std::string json_path_;
};

enum class JsonKind : std::uint8_t { null, boolean, unsigned_integer, integer, number, string, object, array };

/// One of 64 bits for a member's name; an object keeps those of all its members, so that most absent ones are known to
/// be absent without a search.
[[nodiscard]] constexpr std::uint64_t key_bit(std::string_view key) noexcept {
  if (key.empty()) return 1;
  const auto byte = [](char c) { return std::uint64_t{static_cast<unsigned char>(c)}; };
  return std::uint64_t{1} << ((key.size() * 5 + byte(key.front()) * 3 + byte(key.back())) % 64);
}

/// One value. Nodes lie in document order, so a container's children follow it directly.
struct JsonNode {
  JsonKind kind = JsonKind::null;
  std::uint32_t key_begin = 0;  ///< into the tree's text; the member's name
  std::uint32_t key_size = 0;
  std::uint32_t end = 0;  ///< index after the last node of this value
  std::uint32_t text_begin = 0;
  std::uint32_t text_size = 0;
  union {
    std::uint64_t unsigned_integer = 0;  ///< of an object: the key bits of its members
    std::int64_t integer;
    double number;
    bool boolean;
  };
};

/// A parsed JSON document, or one element of its long array, in two flat buffers that are reused from element to
/// element.
class JsonTree {
 public:
  std::vector<JsonNode> nodes;
  std::string text;
  std::string file_name;
  std::string base_path;  ///< pointer of node 0, without the element number
  std::optional<std::uint64_t> element;

  [[nodiscard]] std::string_view key(std::uint32_t index) const noexcept {
    return std::string_view(text).substr(nodes[index].key_begin, nodes[index].key_size);
  }
  [[nodiscard]] std::string_view string(std::uint32_t index) const noexcept {
    return std::string_view(text).substr(nodes[index].text_begin, nodes[index].text_size);
  }
  /// The JSON pointer of a node.
  [[nodiscard]] std::string path(std::uint32_t index) const;
  /// Throws SchemaError at that node.
  [[noreturn]] void fail(std::uint32_t index, std::string_view fault) const;
  /// The member `name` of the object at `index`.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uint32_t index, std::string_view name) const noexcept;

  /// The value as the wanted type; SchemaError otherwise.
  [[nodiscard]] std::uint64_t get_unsigned(std::uint32_t index, std::uint64_t largest) const;
  [[nodiscard]] std::int64_t get_integer(std::uint32_t index) const;
  [[nodiscard]] double get_number(std::uint32_t index) const;
  [[nodiscard]] bool get_boolean(std::uint32_t index) const;
  [[nodiscard]] std::string_view get_string(std::uint32_t index) const;
  void require(std::uint32_t index, JsonKind kind) const;
};

/// The elements of a document's one long array, handed over singly instead of being kept.
struct JsonElements {
  std::string_view member;                         ///< of the root object
  std::function<void(const JsonTree&)> on_header;  ///< when the array begins: everything before it
  std::function<void(const JsonTree&)> on_element;
};

/// Parses one JSON document. What is bounded: nesting (64), a string or number (16 MiB), the members of an object
/// (1024), the values kept at a time (4 million). Throws SchemaError: not JSON, a duplicate key, a bound exceeded; and
/// RunError when the stream fails.
[[nodiscard]] JsonTree parse_json(std::istream& in, std::string_view name, const JsonElements* elements = nullptr);

}  // namespace mtuscope::records
