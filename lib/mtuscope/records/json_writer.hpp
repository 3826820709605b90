#pragma once
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

namespace mtuscope::records {

/// Writes JSON as a stream, never building a document. The same calls give the same bytes on every machine and in every
/// locale; a double comes back exactly as it was (shortest round-trip digits), NaN and infinity become null, and what
/// is no UTF-8 becomes U+FFFD. Not checked: that keys and values alternate as JSON wants.
class JsonWriter {
 public:
  enum class Layout { lines, one_line };
  /// `out` must outlive the writer. A failed `out` is the caller's to check after `flush`.
  explicit JsonWriter(std::ostream& out, Layout layout = Layout::lines) : out_(&out), layout_(layout) {}
  JsonWriter(const JsonWriter&) = delete;
  JsonWriter& operator=(const JsonWriter&) = delete;
  /// Flushes.
  ~JsonWriter();

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }
  /// The next value is the member `name`.
  void key(std::string_view name);

  void null() { raw("null"); }
  void boolean(bool value) { raw(value ? "true" : "false"); }
  void integer(std::int64_t value);
  void unsigned_integer(std::uint64_t value);
  void number(double value);
  void string(std::string_view value);

  /// Starts a new line before the next key or value; layout only, and only where lines are wanted.
  void line_break() { break_pending_ = layout_ == Layout::lines; }
  /// Hands everything to the stream.
  void flush();

 private:
  void open(char bracket);
  void close(char bracket);
  void separate();
  void raw(std::string_view text);
  void quoted(std::string_view text);
  void escape(unsigned char byte);

  std::ostream* out_;
  Layout layout_;
  std::string buffer_;
  bool comma_pending_ = false;
  bool break_pending_ = false;
};

}  // namespace mtuscope::records
