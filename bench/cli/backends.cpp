#include "backends.hpp"

#include <string_view>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/version.hpp"
#include "mtuscope/memory/floor_backend.hpp"
#include "mtuscope/model/backend.hpp"
#include "mtuscope/verbs/backend.hpp"

namespace mtuscope::cli {
namespace {

std::string known_names() {
  std::string names = "verbs, null, memset";
  for (const auto model : model::model_names()) names.append(", ").append(model);
  return names;
}

}  // namespace

std::unique_ptr<Backend> make_backend(const std::string& name, const DeviceOptions& device) {
  const bool device_asked = !device.device.empty() || device.port || device.gid_index;
  if (name == "verbs") {
    verbs::VerbsOptions options;
    options.device = device.device;
    options.port = device.port;
    options.gid_index = device.gid_index;
    return verbs::make_verbs(options);
  }
  if (device_asked) throw ConfigError{"--ib-dev, --ib-port and --gid-index: the back end " + name + " has no device"};
  if (name == "null") return memory::make_null();
  if (name == "memset") return memory::make_memset();
  for (const auto model : model::model_names()) {
    if (name == model) return model::make_model(name);
  }
  throw ConfigError{"--backend: there is no back end \"" + name + "\": use one of " + known_names()};
}

DeviceOptions end_device(const SweepOptions& options, Role role) {
  auto device = options.device;
  if (role == Role::initiator) return device;
  if (!options.peer_device.device.empty()) device.device = options.peer_device.device;
  if (options.peer_device.port) device.port = options.peer_device.port;
  if (options.peer_device.gid_index) device.gid_index = options.peer_device.gid_index;
  return device;
}

Environment describe_end(const Backend& backend, std::optional<int> cpu) {
  auto environment = backend.environment();
  environment.host = read_host_info();
  environment.mtuscope_version = kVersion;
  environment.cpu = cpu;
  return environment;
}

}  // namespace mtuscope::cli
