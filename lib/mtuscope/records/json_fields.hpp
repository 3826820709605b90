#pragma once
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mtuscope/core/path_mtu.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/records/json_tree.hpp"
#include "mtuscope/records/json_writer.hpp"

/// One list of a struct's fields serves both directions: `visit_fields(archive, object)` calls
/// `archive("name", object.name)` for each, and the archive is a FieldWriter or a FieldReader.
namespace mtuscope::records {

template <class T, class Struct>
concept FieldsOf = std::same_as<std::remove_const_t<T>, Struct>;

/// Enumerations whose words are not among those of Point. Declared with the fields that use them.
template <class Enum>
[[nodiscard]] std::optional<Enum> word_to_enum(std::string_view word) noexcept {
  return enum_from_string<Enum>(word);
}

/// What happens to a member that has nothing to say.
enum class Absent { written_as_null, left_out };

class FieldWriter {
 public:
  explicit FieldWriter(JsonWriter& out, Absent absent = Absent::written_as_null) : out_(out), absent_(absent) {}

  template <class T>
  void operator()(std::string_view name, const T& value) {
    if (absent_ == Absent::left_out && is_absent(value)) return;
    out_.key(name);
    write(value);
  }
  /// Written as null when absent, even where other members are left out.
  template <class T>
  void always(std::string_view name, const T& value) {
    out_.key(name);
    write(value);
  }
  /// A member that a minor version has added.
  template <class T>
  void added(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  template <class T>
  void write(const T& value);

 private:
  template <class T>
  void write_array(const std::vector<T>& values);
  template <class T>
  [[nodiscard]] static bool is_absent(const T& value) {
    if constexpr (requires { value.has_value(); }) return !value.has_value();
    if constexpr (std::same_as<T, std::string>) return value.empty();
    return false;
  }

  JsonWriter& out_;
  Absent absent_;
};

/// Reads the members of one object. Members may come in any order; unknown ones are ignored (a newer minor version).
class FieldReader {
 public:
  FieldReader(const JsonTree& tree, std::uint32_t object, Absent absent = Absent::written_as_null)
      : tree_(tree), object_(object), next_(object + 1), absent_(absent) {
    tree.require(object, JsonKind::object);
  }

  template <class T>
  void operator()(std::string_view name, T& value) {
    const auto member = absent_ == Absent::left_out ? find(name) : std::optional(required(name));
    if (member) read(*member, value);
  }
  template <class T>
  void always(std::string_view name, T& value) {
    read(required(name), value);
  }
  /// A member that a minor version has added: an older record lacks it.
  template <class T>
  void added(std::string_view name, T& value) {
    if (const auto member = find(name)) read(*member, value);
  }
  /// A member's node; found at once when members are asked for in the order they were written.
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) noexcept {
    if ((tree_.nodes[object_].unsigned_integer & key_bit(name)) == 0) return std::nullopt;
    const auto end = tree_.nodes[object_].end;
    for (auto child = next_; child < end; child = tree_.nodes[child].end) {
      if (tree_.key(child) != name) continue;
      next_ = tree_.nodes[child].end;
      return child;
    }
    return next_ == object_ + 1 ? std::nullopt : tree_.find(object_, name);
  }
  [[nodiscard]] std::uint32_t required(std::string_view name) {
    const auto member = find(name);
    if (!member) tree_.fail(object_, std::string("the member \"").append(name).append("\" is missing"));
    return *member;
  }
  [[nodiscard]] const JsonTree& tree() const noexcept { return tree_; }

  template <class T>
  void read(std::uint32_t node, T& value) const;

 private:
  const JsonTree& tree_;
  std::uint32_t object_;
  std::uint32_t next_;
  Absent absent_;
};

template <class T>
struct IsVector : std::false_type {};
template <class T>
struct IsVector<std::vector<T>> : std::true_type {};

template <class T>
void FieldWriter::write_array(const std::vector<T>& values) {
  out_.begin_array();
  for (const auto& item : values) {
    if constexpr (std::same_as<T, std::string>) {
      out_.string(item);  // an empty argument of a command line is no missing one
    } else {
      write(item);
    }
  }
  out_.end_array();
}

template <class T>
void FieldWriter::write(const T& value) {
  if constexpr (std::same_as<T, bool>) {
    out_.boolean(value);
  } else if constexpr (std::same_as<T, PathMtu>) {
    out_.unsigned_integer(to_bytes(value));
  } else if constexpr (std::is_enum_v<T>) {
    out_.string(to_string(value));
  } else if constexpr (std::unsigned_integral<T>) {
    out_.unsigned_integer(value);
  } else if constexpr (std::signed_integral<T>) {
    out_.integer(value);
  } else if constexpr (std::floating_point<T>) {
    out_.number(value);
  } else if constexpr (std::same_as<T, std::string>) {
    value.empty() ? out_.null() : out_.string(value);
  } else if constexpr (IsVector<T>::value) {
    write_array(value);
  } else if constexpr (requires { value.has_value(); }) {
    value ? write(*value) : out_.null();
  } else {
    out_.begin_object();
    FieldWriter members(out_, absent_);
    visit_fields(members, value);
    out_.end_object();
  }
}

template <class T>
void FieldReader::read(std::uint32_t node, T& value) const {
  const bool is_null = tree_.nodes[node].kind == JsonKind::null;
  if constexpr (std::same_as<T, bool>) {
    value = tree_.get_boolean(node);
  } else if constexpr (std::same_as<T, PathMtu>) {
    const auto mtu = path_mtu_from_bytes(tree_.get_unsigned(node, std::numeric_limits<std::uint64_t>::max()));
    if (!mtu) tree_.fail(node, "no path MTU; there are 256, 512, 1024, 2048 and 4096");
    value = *mtu;
  } else if constexpr (std::is_enum_v<T>) {
    const auto word = word_to_enum<T>(tree_.get_string(node));
    if (!word) tree_.fail(node, "the word \"" + std::string(tree_.string(node)) + "\" is not known here");
    value = *word;
  } else if constexpr (std::unsigned_integral<T>) {
    value = static_cast<T>(tree_.get_unsigned(node, std::numeric_limits<T>::max()));
  } else if constexpr (std::signed_integral<T>) {
    const auto wide = tree_.get_integer(node);
    if (wide < std::numeric_limits<T>::min() || wide > std::numeric_limits<T>::max()) tree_.fail(node, "out of range");
    value = static_cast<T>(wide);
  } else if constexpr (std::floating_point<T>) {
    value = tree_.get_number(node);
  } else if constexpr (std::same_as<T, std::string>) {
    value = is_null ? std::string_view{} : tree_.get_string(node);
  } else if constexpr (IsVector<T>::value) {
    tree_.require(node, JsonKind::array);
    value.clear();
    for (auto item = node + 1; item < tree_.nodes[node].end; item = tree_.nodes[item].end) {
      read(item, value.emplace_back());
    }
  } else if constexpr (requires { value.has_value(); }) {
    is_null ? value.reset() : read(node, value.emplace());
  } else {
    FieldReader members(tree_, node, absent_);
    visit_fields(members, value);
  }
}

}  // namespace mtuscope::records
