#include "mtuscope/model/backend.hpp"

#include <string>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/model/simulated_channel.hpp"
#include "mtuscope/transport/peerless_session.hpp"

namespace mtuscope::model {
namespace {

/// What the equations do not reach, as the end of a sentence that begins with the model's name; nothing if they do.
std::optional<std::string> missing_equation(const Point& point) {
  const auto word = [](auto value) { return std::string(to_string(value)); };
  if (point.pattern != Pattern::stream) return word(point.pattern) + " messages; it knows streams only";
  if (point.operation != Operation::send) return "the operation " + word(point.operation) + "; it knows send only";
  if (point.connection == Connection::tcp || point.connection == Connection::none) {
    return "the connection " + word(point.connection) + "; it knows mpi, rc, uc and ud";
  }
  if (point.path_mtu != PathMtu::mtu1024 && point.path_mtu != PathMtu::mtu2048) {
    return (point.path_mtu ? "path MTU " + std::to_string(to_bytes(*point.path_mtu)) : "an unknown path MTU") +
           "; it knows 1024 and 2048";
  }
  if (point.message_size_bytes == 0) return "empty messages";
  if (point.connection == Connection::ud && point.message_size_bytes > to_bytes(*point.path_mtu)) {
    return "UD messages above the path MTU; one message is one datagram";
  }
  if (point.working_set && point.working_set->block_count > 1) return "more than one registered block";
  return std::nullopt;
}

std::optional<std::string> refusal_of(std::string_view name, const Point& point) {
  auto missing = missing_equation(point);
  if (missing) missing->insert(0, std::string(name) + " has no equation for ");
  return missing;
}

class ModelBackend final : public Backend {
 public:
  ModelBackend(std::string_view name, const HcaModel& model) : name_(name), model_(model) {}

  std::string_view name() const noexcept override { return name_; }
  Source source() const noexcept override { return Source::model; }
  bool needs_peer() const noexcept override { return false; }
  bool deterministic() const noexcept override { return true; }
  std::optional<std::string> refusal(const Point& point, const Environment* /*peer*/) const override {
    return refusal_of(name_, point);
  }
  Environment environment() const override { return {}; }
  std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role /*role*/,
                                             Exchange* /*exchange*/) override {
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      SimulatedChannel channel(model_, spec.qp_count);
      const SimulatedClock clock(channel);
      sessions.push_back(
          std::make_unique<PeerlessSession<SimulatedChannel, SimulatedClock>>(std::move(channel), clock, spec));
    }
    return sessions;
  }

 private:
  std::string name_;
  HcaModel model_;
};

}  // namespace

std::unique_ptr<Backend> make_model(std::string_view name) {
  if (const auto model = find_model(name)) return std::make_unique<ModelBackend>(name, *model);
  std::string known;
  for (const auto other : model_names()) known += (known.empty() ? "" : ", ") + std::string(other);
  throw ConfigError("there is no model \"" + std::string(name) + "\"; use one of: " + known);
}

}  // namespace mtuscope::model
