#include "mtuscope/mpi/backend.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "mtuscope/mpi/mtu_proof.hpp"
#include "mtuscope/mpi/session.hpp"

namespace mtuscope::mpi {
namespace {

using namespace std::string_view_literals;

class MpiBackend final : public Backend {
 public:
  MpiBackend(MPI_Comm parent, int peer, Alarm alarm) : parent_(parent), peer_(peer), alarm_(std::move(alarm)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "mpi"; }
  [[nodiscard]] Source source() const noexcept override { return Source::measured; }
  [[nodiscard]] bool needs_peer() const noexcept override { return true; }
  [[nodiscard]] bool deterministic() const noexcept override { return false; }
  [[nodiscard]] Environment environment() const override {
    Environment environment;
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    if (MPI_Get_library_version(text.data(), &length) != MPI_SUCCESS || length <= 0) return environment;
    const std::string_view version{text.data(), static_cast<std::size_t>(length)};
    environment.mpi_library = version.substr(0, version.find_first_of("\n\0"sv));
    return environment;
  }

  [[nodiscard]] std::optional<std::string> refusal(const Point& point, const Environment* /*peer*/) const override {
    if (point.connection != Connection::mpi) return "this back end measures connection mpi only";
    if (point.working_set) return "the MPI back end does not cycle through blocks yet: leave --blocks out";
    if (point.operation != Operation::send) return "MPI is measured with sends only";
    if (point.message_size_bytes > std::numeric_limits<int>::max()) {
      return "an MPI count holds 2^31 - 1 bytes at most";
    }
    if (point.qp_count.value_or(1) != 1 || point.post_list.value_or(1) != 1 || point.cq_mod.value_or(1) != 1 ||
        point.inline_bytes.value_or(0) != 0 ||
        point.connect_method.value_or(ConnectMethod::tcp) != ConnectMethod::tcp) {
      return "MPI itself decides about queue pairs, post lists, completions, inline data and connecting: leave --qp, "
             "--post-list, --cq-mod, --inline and --connect out";
    }
    if (point.wait_mode == WaitMode::event) return "MPI waits in its own way: leave --events out";
    return std::nullopt;
  }

  [[nodiscard]] std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role role,
                                                           Exchange* exchange) override {
    std::uint64_t largest = kBurstMessageBytes;
    for (const auto& spec : specs) largest = std::max(largest, spec.max_message_size_bytes);
    const auto arrangement = std::make_shared<const Arrangement>(
        parent_, largest, Deadline::after_ns(specs.empty() ? 0 : 2 * specs.front().timeout_ns));
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      sessions.push_back(std::make_unique<MpiSession>(SessionSetup{arrangement, spec, role, peer_, exchange, alarm_}));
    }
    return sessions;
  }

 private:
  MPI_Comm parent_;
  int peer_;
  Alarm alarm_;
};

}  // namespace

std::unique_ptr<Backend> make_mpi(MPI_Comm parent, int peer, Alarm alarm) {
  return std::make_unique<MpiBackend>(parent, peer, std::move(alarm));
}

}  // namespace mtuscope::mpi
