#include "mtuscope/core/log.hpp"

#include <exception>
#include <mutex>
#include <utility>

namespace mtuscope {
namespace {

struct SinkHolder {
  std::mutex mutex;
  LogSink sink;
};

SinkHolder& holder() {
  static SinkHolder instance;
  return instance;
}

}  // namespace

void set_log_sink(LogSink sink) {
  const std::scoped_lock lock{holder().mutex};
  holder().sink = std::move(sink);
}

void log(LogLevel level, std::string_view message) noexcept {
  try {
    const std::scoped_lock lock{holder().mutex};
    if (holder().sink) holder().sink(level, message);
  } catch (const std::exception&) {  // a failing log must not stop a measurement or a destructor
    return;
  }
}

}  // namespace mtuscope
