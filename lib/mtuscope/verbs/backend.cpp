#include "mtuscope/verbs/backend.hpp"

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "mtuscope/core/version.hpp"
#include "mtuscope/verbs/refusal.hpp"
#include "mtuscope/verbs/session.hpp"

namespace mtuscope::verbs {
namespace {

/// rdma-core's version is the tail of its library's file name: libibverbs.so.1.14.44.0 is of rdma-core 44.0.
std::string rdma_core_version() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ibv_wc_status_str), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  const auto file = std::filesystem::canonical(info.dli_fname, error).filename().string();
  constexpr std::string_view kPrefix = "libibverbs.so.";
  if (error || !file.starts_with(kPrefix)) return {};
  auto tail = file.substr(kPrefix.size());
  for (int part = 0; part < 2; ++part) {
    const auto dot = tail.find('.');
    if (dot == std::string::npos) return {};
    tail.erase(0, dot + 1);
  }
  return tail;
}

void pin_this_thread(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (cpu < 0 || cpu >= CPU_SETSIZE) throw ConfigError("--cpu " + std::to_string(cpu) + " is no CPU number");
  CPU_SET(static_cast<std::size_t>(cpu), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw SystemError("cannot pin the measuring thread to CPU " + std::to_string(cpu) +
                          " (does it exist and is it "
                          "allowed for this process?)",
                      errno);
  }
}

class VerbsBackend final : public Backend {
 public:
  explicit VerbsBackend(const VerbsOptions& options)
      : options_(options),
        sysfs_(options.sysfs_root),
        device_(open_device({options.device, options.port, options.gid_index}, sysfs_)) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "verbs"; }
  [[nodiscard]] Source source() const noexcept override { return Source::measured; }
  [[nodiscard]] bool needs_peer() const noexcept override { return true; }
  [[nodiscard]] bool deterministic() const noexcept override { return false; }

  [[nodiscard]] std::optional<std::string> refusal(const Point& point, const Environment* peer) const override {
    return refuse(point, limits_of(device_), peer);
  }

  [[nodiscard]] Environment environment() const override {
    Environment environment;
    environment.mtuscope_version = kVersion;
    environment.rdma_core_version = rdma_core_version();
    environment.device = device_.info;
    environment.port_number = device_.port;
    environment.gid_index = device_.gid_index;
    environment.cpu = options_.cpu;
    return environment;
  }

  [[nodiscard]] std::vector<std::unique_ptr<Session>> open(std::span<const SessionSpec> specs, Role role,
                                                           Exchange* exchange) override {
    if (exchange == nullptr) throw RunError("the verbs back end needs a peer");
    if (const auto reason = refuse_sessions(specs, limits_of(device_))) throw RunError(*reason);
    if (options_.cpu) pin_this_thread(*options_.cpu);
    std::uint32_t qp_count = 1;
    std::uint64_t message_size_bytes = 0;
    for (const auto& spec : specs) {
      if (!spec.path_mtu) throw RunError("a queue pair needs a path MTU, and the plan states none");
      qp_count = std::max(qp_count, spec.qp_count);
      message_size_bytes = std::max(message_size_bytes, spec.max_message_size_bytes);
    }
    const auto arrangement = std::make_shared<Arrangement>(device_, sysfs_, qp_count, message_size_bytes);
    std::vector<std::unique_ptr<Session>> sessions;
    for (const auto& spec : specs) {
      const auto index = static_cast<std::uint32_t>(sessions.size());
      sessions.push_back(std::make_unique<VerbsSession>(SessionSetup{arrangement, spec, index, role, exchange}));
    }
    return sessions;
  }

 private:
  VerbsOptions options_;
  counters::Sysfs sysfs_;
  OpenDevice device_;
};

}  // namespace

std::unique_ptr<Backend> make_verbs(const VerbsOptions& options) { return std::make_unique<VerbsBackend>(options); }

}  // namespace mtuscope::verbs
