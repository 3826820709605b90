#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mtuscope/core/error.hpp"

namespace mtuscope {

/// Builds a frame's payload: little-endian integers, length-prefixed strings.
class WireWriter {
 public:
  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void put(T value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (std::size_t i = 0; i < sizeof(T); ++i, bits >>= 8U) bytes_.push_back(static_cast<std::byte>(bits & 0xffU));
  }
  void put(double value) { put(std::bit_cast<std::uint64_t>(value)); }
  void put(std::string_view text) {
    put(static_cast<std::uint32_t>(text.size()));
    const auto* data = reinterpret_cast<const std::byte*>(text.data());
    bytes_.insert(bytes_.end(), data, data + text.size());
  }
  template <class T>
  void put(const std::optional<T>& value) {
    put(value.has_value());
    if (value) put(*value);
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes a payload from the network apart. Every read is bounded; a short or odd payload throws PeerError.
class WireReader {
 public:
  explicit WireReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) [[nodiscard]] T get() {
    std::uint64_t bits = 0;
    const auto part = take(sizeof(T));
    for (std::size_t i = sizeof(T); i > 0; --i) bits = bits << 8U | std::to_integer<std::uint64_t>(part[i - 1]);
    return static_cast<T>(bits);
  }
  [[nodiscard]] bool get_bool() {
    const auto value = get<std::uint8_t>();
    if (value > 1) throw PeerError("the peer sent a malformed message (a flag is neither 0 nor 1)");
    return value == 1;
  }
  [[nodiscard]] double get_double() { return std::bit_cast<double>(get<std::uint64_t>()); }
  /// An enumeration whose last value is `last`.
  template <class Enum>
  [[nodiscard]] Enum get_enum(Enum last) {
    const auto value = get<std::underlying_type_t<Enum>>();
    if (value > static_cast<std::underlying_type_t<Enum>>(last)) {
      throw PeerError("the peer sent a malformed message (unknown enumeration value)");
    }
    return static_cast<Enum>(value);
  }
  [[nodiscard]] std::string get_string(std::size_t max_bytes = 4096) {
    const auto size = get<std::uint32_t>();
    if (size > max_bytes) throw PeerError("the peer sent a malformed message (a text is too long)");
    const auto part = take(size);
    return {reinterpret_cast<const char*>(part.data()), part.size()};
  }
  /// Throws unless everything was taken.
  void expect_end() const {
    if (!bytes_.empty()) throw PeerError("the peer sent a malformed message (bytes left over)");
  }

 private:
  std::span<const std::byte> take(std::size_t count) {
    if (count > bytes_.size()) throw PeerError("the peer sent a malformed message (cut short)");
    const auto part = bytes_.first(count);
    bytes_ = bytes_.subspan(count);
    return part;
  }

  std::span<const std::byte> bytes_;
};

}  // namespace mtuscope
