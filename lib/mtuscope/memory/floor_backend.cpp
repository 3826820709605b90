#include "mtuscope/memory/floor_backend.hpp"

#include <algorithm>
#include <utility>

#include "mtuscope/memory/channels.hpp"
#include "mtuscope/transport/peerless_session.hpp"

namespace mtuscope::memory {
namespace {

/// What both floors share: no peer, no device, streams only.
class FloorBackend : public Backend {
 public:
  [[nodiscard]] Source source() const noexcept override { return Source::measured; }
  [[nodiscard]] bool needs_peer() const noexcept override { return false; }
  [[nodiscard]] bool deterministic() const noexcept override { return false; }
  [[nodiscard]] std::optional<std::string> refusal(const Point& point, const Environment* /*peer*/) const override {
    if (point.pattern != Pattern::stream) return "the null and memset back ends have nobody to answer: streams only";
    return std::nullopt;
  }
  [[nodiscard]] Environment environment() const override { return {}; }
};

template <template <class> class Channel, class... Arguments>
std::unique_ptr<Session> make_session(const SessionSpec& spec, const Arguments&... arguments) {
  const auto with = [&]<class C>(C channel) -> std::unique_ptr<Session> {
    return std::make_unique<PeerlessSession<C, MonotonicClock>>(std::move(channel), MonotonicClock{}, spec);
  };
  return spec.working_set ? with(Channel<CycledBlocks>{spec, arguments...})
                          : with(Channel<OneBuffer>{spec, arguments...});
}

class NullBackend final : public FloorBackend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "null"; }
  [[nodiscard]] std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role /*role*/,
                                                           Exchange* /*exchange*/) override {
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      sessions.push_back(make_session<NullChannel>(spec));
    }
    return sessions;
  }
};

class MemsetBackend final : public FloorBackend {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "memset"; }
  [[nodiscard]] std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role /*role*/,
                                                           Exchange* /*exchange*/) override {
    std::uint64_t largest = 0;
    for (const auto& spec : specs) largest = std::max(largest, spec.max_message_size_bytes);
    std::vector<WorkingSet> sets;
    for (const auto& spec : specs) {
      if (spec.working_set) sets.push_back(*spec.working_set);
    }
    check_memory(sets, false, read_memory_limits());
    const auto memory = std::make_shared<FloorMemory>(sets, largest);
    std::size_t set = 0;
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      auto* const base = spec.working_set ? memory->pool.base(set++) : memory->buffer.data();
      sessions.push_back(make_session<MemsetChannel>(spec, memory, base));
    }
    return sessions;
  }
};

}  // namespace

std::unique_ptr<Backend> make_null() { return std::make_unique<NullBackend>(); }
std::unique_ptr<Backend> make_memset() { return std::make_unique<MemsetBackend>(); }

}  // namespace mtuscope::memory
