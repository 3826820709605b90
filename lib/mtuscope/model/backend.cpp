#include "mtuscope/model/backend.hpp"

#include <string>
#include <utility>
#include <variant>

#include "mtuscope/core/error.hpp"
#include "mtuscope/model/model_backend.hpp"
#include "mtuscope/model/simulated_channel.hpp"
#include "mtuscope/transport/peerless_session.hpp"

namespace mtuscope::model {
namespace {

template <class Enum>
std::string word(Enum value) {
  return std::string(to_string(value));
}

bool cycles_blocks(const Point& point) { return point.working_set && point.working_set->block_count > 1; }

std::string path_mtu_text(const Point& point) {
  return point.path_mtu ? "path MTU " + std::to_string(to_bytes(*point.path_mtu)) : "an unknown path MTU";
}

/// What HcaModel does not reach.
std::optional<std::string> missing_for_hca(const Point& point) {
  if (point.pattern != Pattern::stream) return word(point.pattern) + " messages; it knows streams only";
  if (point.operation != Operation::send) return "the operation " + word(point.operation) + "; it knows send only";
  if (point.connection == Connection::tcp || point.connection == Connection::none ||
      point.connection == Connection::gm) {
    return "the connection " + word(point.connection) + "; it knows mpi, rc, uc and ud";
  }
  if (point.path_mtu != PathMtu::mtu1024 && point.path_mtu != PathMtu::mtu2048) {
    return path_mtu_text(point) + "; it knows 1024 and 2048";
  }
  if (point.message_size_bytes == 0) return "empty messages";
  if (point.connection == Connection::ud && point.message_size_bytes > to_bytes(*point.path_mtu)) {
    return "UD messages above the path MTU; one message is one datagram";
  }
  if (cycles_blocks(point)) return "more than one registered block";
  return std::nullopt;
}

/// What LanaiModel does not reach of a working set.
std::optional<std::string> missing_for_blocks(const WorkingSet& blocks, std::uint64_t message_size_bytes) {
  if (blocks.page_size_bytes != kLanaiPageBytes) {
    return "pages of " + std::to_string(blocks.page_size_bytes) + " B; its cache translates pages of 4096 B";
  }
  if (blocks.side == BufferSide::destination) {
    return "blocks at the destination alone; it knows the sender's card, so cycle them at the source or at both ends";
  }
  if (blocks.block_size_bytes < message_size_bytes) {
    return "messages above the block size of " + std::to_string(blocks.block_size_bytes) + " B";
  }
  if (blocks.block_count > kLanaiMaxPages / lanai_pages(blocks.block_size_bytes)) {
    return "working sets above 16 GiB; ask for fewer or smaller blocks";
  }
  return std::nullopt;
}

/// What LanaiModel does not reach.
std::optional<std::string> missing_for_lanai(const Point& point) {
  if (point.pattern != Pattern::stream) return word(point.pattern) + " messages; it knows streams only";
  if (point.operation != Operation::send) return "the operation " + word(point.operation) + "; it knows send only";
  if (point.connection != Connection::gm) return "the connection " + word(point.connection) + "; it knows gm only";
  if (point.path_mtu) return path_mtu_text(point) + "; GM has none, so state none";
  if (point.message_size_bytes == 0) return "empty messages";
  return point.working_set ? missing_for_blocks(*point.working_set, point.message_size_bytes) : std::nullopt;
}

/// What PipelineModel does not reach: the table it was fitted to holds ping-pongs, and its 8 and 16 MiB rows do not
/// follow it.
std::optional<std::string> missing_for_pipeline(const Point& point) {
  constexpr std::uint64_t kSmallest = 64;
  constexpr std::uint64_t kLargest = std::uint64_t{4} << 20U;
  if (point.pattern != Pattern::ping_pong) return word(point.pattern) + " messages; it knows ping-pong only";
  if (point.operation != Operation::send) return "the operation " + word(point.operation) + "; it knows send only";
  if (point.connection != Connection::rc) return "the connection " + word(point.connection) + "; it knows rc only";
  if (!point.path_mtu || to_bytes(*point.path_mtu) < to_bytes(PathMtu::mtu1024)) {
    return path_mtu_text(point) + "; it knows 1024, 2048 and 4096";
  }
  if (point.message_size_bytes < kSmallest || point.message_size_bytes > kLargest) {
    return "messages of " + std::to_string(point.message_size_bytes) + " B; it knows 64 B to 4 MiB";
  }
  if (cycles_blocks(point)) return "more than one registered block";
  return std::nullopt;
}

template <class Channel>
class ChannelBackend final : public ModelBackend {
 public:
  using Parameters = typename Channel::Parameters;

  ChannelBackend(std::string_view name, MissingEquation missing, const Parameters& parameters)
      : ModelBackend(name, missing), parameters_(parameters) {}

  std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role /*role*/,
                                             Exchange* /*exchange*/) override {
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      Channel channel(parameters_, spec.qp_count);
      const SimulatedClock clock(channel.now_ns());
      sessions.push_back(std::make_unique<PeerlessSession<Channel, SimulatedClock>>(std::move(channel), clock, spec));
    }
    return sessions;
  }

 private:
  Parameters parameters_;
};

/// The back end of each kind of model.
struct MakeBackend {
  std::string_view name;

  std::unique_ptr<Backend> operator()(const HcaModel& model) const {
    return std::make_unique<ChannelBackend<SimulatedChannel<HcaDevice>>>(name, missing_for_hca, model);
  }
  std::unique_ptr<Backend> operator()(const LanaiModel& model) const {
    using Device = LanaiDevice<NruPageCache>;
    return std::make_unique<ChannelBackend<SimulatedChannel<Device>>>(name, missing_for_lanai, model);
  }
  std::unique_ptr<Backend> operator()(const PipelineModel& model) const {
    return std::make_unique<ChannelBackend<EchoChannel>>(name, missing_for_pipeline, model);
  }
};

}  // namespace

std::unique_ptr<Backend> make_model(std::string_view name) {
  if (const auto model = find_model(name)) return std::visit(MakeBackend{name}, *model);
  std::string known;
  for (const auto other : model_names()) {
    known += (known.empty() ? "" : ", ") + std::string(other);
    if (other == kAssumedLanaiName) known += " (an assumption)";
  }
  throw ConfigError("there is no model \"" + std::string(name) + "\"; use one of: " + known);
}

}  // namespace mtuscope::model
