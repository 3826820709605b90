#include "mtuscope/model/synthetic.hpp"

#include <algorithm>
#include <utility>

#include "mtuscope/core/random.hpp"
#include "mtuscope/model/model_backend.hpp"
#include "mtuscope/model/pass_series.hpp"
#include "mtuscope/model/simulated_channel.hpp"
#include "mtuscope/transport/peerless_session.hpp"

namespace mtuscope::model {
namespace {

constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint32_t kDefaultInFlight = 8;
constexpr double kMessageNs = 1000;
constexpr double kNsPerByte = 1;

class SyntheticSender {
 public:
  using Parameters = SyntheticDevice;

  explicit SyntheticSender(const SyntheticDevice& device) : device_(device), random_(device.seed) {}

  void configure(const Point& point) {
    if (!series_.goes_on_with(point)) dropped_ = false;
    const auto pages = (point.message_size_bytes + kPageBytes - 1) / kPageBytes;
    const auto size = static_cast<double>(point.message_size_bytes);
    const auto misses = static_cast<double>(pages) * miss_ratio(point, pages);
    const auto off = device_.noise * (2 * random_.uniform() - 1);
    interval_ns_ = (kMessageNs + size * kNsPerByte + misses * device_.miss_ns) * (1 + off);
    now_ns_ = 0;
  }
  [[nodiscard]] double next_completion_ns() noexcept { return now_ns_ += interval_ns_; }

 private:
  [[nodiscard]] double miss_ratio(const Point& point, std::uint64_t pages) noexcept {
    if (device_.capacity_pages == 0 || !point.working_set) return 0;
    const auto order = point.working_set->order;
    auto blocks = point.working_set->block_count;
    if (order == ReuseOrder::lifo) {
      blocks = std::min<std::uint64_t>(blocks, point.tx_depth.value_or(kDefaultInFlight));
    }
    const auto cycle_pages = blocks * pages;
    if (order == ReuseOrder::random || order == ReuseOrder::sawtooth) {
      const auto held = std::min(cycle_pages, device_.capacity_pages);
      return 1 - static_cast<double>(held) / static_cast<double>(cycle_pages);
    }
    if (cycle_pages > device_.capacity_pages) dropped_ = true;
    if (cycle_pages + device_.hysteresis_pages <= device_.capacity_pages) dropped_ = false;
    return dropped_ ? 1 : 0;
  }

  SyntheticDevice device_;
  SplitMix64 random_;
  PassSeries series_;
  bool dropped_ = false;
  double interval_ns_ = 0;
  double now_ns_ = 0;
};

std::optional<std::string> missing_equation(const Point& point) {
  if (point.pattern != Pattern::stream)
    return std::string(to_string(point.pattern)) + " messages; it knows streams only";
  if (point.operation != Operation::send) return "the operation " + std::string(to_string(point.operation));
  if (point.connection != Connection::rc && point.connection != Connection::gm) {
    return "the connection " + std::string(to_string(point.connection)) + "; it knows rc and gm";
  }
  if (point.message_size_bytes == 0) return "empty messages";
  return std::nullopt;
}

class SyntheticBackend final : public ModelBackend {
 public:
  explicit SyntheticBackend(const SyntheticDevice& device)
      : ModelBackend("model:synthetic", missing_equation), device_(device) {}

  [[nodiscard]] bool deterministic() const noexcept override { return device_.noise == 0; }
  /// Each session has noise of its own.
  [[nodiscard]] std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role /*role*/,
                                                           Exchange* /*exchange*/) override {
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      SimulatedChannel<SyntheticSender> channel(device_, spec.qp_count);
      device_.seed = SplitMix64(device_.seed).next();
      const SimulatedClock clock(channel.now_ns());
      sessions.push_back(std::make_unique<PeerlessSession<SimulatedChannel<SyntheticSender>, SimulatedClock>>(
          std::move(channel), clock, spec));
    }
    return sessions;
  }

 private:
  SyntheticDevice device_;
};

}  // namespace

std::unique_ptr<Backend> make_synthetic(const SyntheticDevice& device) {
  return std::make_unique<SyntheticBackend>(device);
}

}  // namespace mtuscope::model
