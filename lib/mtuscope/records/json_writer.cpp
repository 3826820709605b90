#include "mtuscope/records/json_writer.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <ostream>

#include "mtuscope/core/printable.hpp"

namespace mtuscope::records {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{64} * 1024;

template <class Number>
std::string_view digits(std::array<char, 32>& space, Number value) noexcept {
  const auto end = std::to_chars(space.data(), space.data() + space.size(), value).ptr;
  return {space.data(), static_cast<std::size_t>(end - space.data())};
}

}  // namespace

JsonWriter::~JsonWriter() { flush(); }

void JsonWriter::flush() {
  out_->write(buffer_.data(), static_cast<std::streamsize>(buffer_.size()));
  buffer_.clear();
}

void JsonWriter::separate() {
  if (comma_pending_) buffer_ += ',';
  if (break_pending_) buffer_ += '\n';
  comma_pending_ = break_pending_ = false;
}

void JsonWriter::raw(std::string_view text) {
  separate();
  buffer_ += text;
  comma_pending_ = true;
  if (buffer_.size() >= kBufferBytes) flush();
}

void JsonWriter::open(char bracket) {
  separate();
  buffer_ += bracket;
}

void JsonWriter::close(char bracket) {
  comma_pending_ = false;
  raw({&bracket, 1});
}

void JsonWriter::key(std::string_view name) {
  separate();
  quoted(name);
  buffer_ += ':';
}

void JsonWriter::integer(std::int64_t value) {
  std::array<char, 32> space;
  raw(digits(space, value));
}

void JsonWriter::unsigned_integer(std::uint64_t value) {
  std::array<char, 32> space;
  raw(digits(space, value));
}

void JsonWriter::number(double value) {
  if (!std::isfinite(value)) return null();
  if (value == 0 && std::signbit(value)) return raw("-0.0");  // "-0" would be read as the integer 0
  std::array<char, 32> space;
  raw(digits(space, value));
}

void JsonWriter::string(std::string_view value) {
  separate();
  quoted(value);
  comma_pending_ = true;
  if (buffer_.size() >= kBufferBytes) flush();
}

void JsonWriter::escape(unsigned char byte) {
  static constexpr std::string_view kHex = "0123456789abcdef";
  buffer_ += "\\u00";
  buffer_ += kHex[byte >> 4U];
  buffer_ += kHex[byte & 15U];
}

void JsonWriter::quoted(std::string_view text) {
  buffer_ += '"';
  while (!text.empty()) {
    const auto length = utf8_length(text);
    const char first = text.front();
    if (length == 0) {
      buffer_ += "\xef\xbf\xbd";
    } else if (first == '"' || first == '\\') {
      (buffer_ += '\\') += first;
    } else if (first == '\n') {
      buffer_ += "\\n";
    } else if (static_cast<unsigned char>(first) < 0x20 || first == 0x7f) {
      escape(static_cast<unsigned char>(first));
    } else {
      buffer_ += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  buffer_ += '"';
}

}  // namespace mtuscope::records
