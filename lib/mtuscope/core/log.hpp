#pragma once
#include <cstdint>
#include <functional>
#include <string_view>

namespace mtuscope {

enum class LogLevel : std::uint8_t { error, warning, info, debug };

using LogSink = std::function<void(LogLevel, std::string_view)>;

/// Where the library's messages go; the library itself never prints. The default drops them.
/// Set once by the front end before any thread is started.
void set_log_sink(LogSink sink);

/// Hands one line (no line feed) to the sink. Never throws, so destructors may call it.
void log(LogLevel level, std::string_view message) noexcept;

}  // namespace mtuscope
