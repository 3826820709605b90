#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "mtuscope/core/path_mtu.hpp"

namespace mtuscope {

enum class ProofVerdict : std::uint8_t {
  proved,        ///< every number that could be read agrees
  contradicted,  ///< one of them does not
  not_provable   ///< the device has no usable counters, or both ends are on one device
};

/// What is known about the path MTU a session really used. An empty optional means "could not be read".
struct MtuProof {
  PathMtu asked = PathMtu::mtu1024;
  std::optional<PathMtu> local_active;
  std::optional<PathMtu> remote_active;
  std::optional<PathMtu> local_read_back;  ///< ibv_query_qp; empty for UD, whose QP has no path MTU
  std::optional<PathMtu> remote_read_back;
  std::optional<PathMtu> route_mtu;  ///< what librdmacm's route or the QP attributes it proposed said
  std::uint64_t burst_messages = 0;
  std::uint64_t burst_message_size_bytes = 0;
  std::optional<std::uint64_t> expected_packets;
  std::optional<std::uint64_t> counted_packets;
  std::string counter;  ///< "rxe0/1 hw_counters/sent_pkts"
  ProofVerdict verdict = ProofVerdict::not_provable;
  std::string reason;   ///< a sentence: which rule decided, or why nothing could
  std::string setting;  ///< "UCX_IB_PATH_MTU=1024", by which the launch asked an MPI library; empty: none
};

[[nodiscard]] constexpr const char* to_string(ProofVerdict verdict) noexcept {
  switch (verdict) {
    case ProofVerdict::proved:
      return "proved";
    case ProofVerdict::contradicted:
      return "contradicted";
    case ProofVerdict::not_provable:
      return "not provable";
  }
  return "?";
}

}  // namespace mtuscope
