#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/transport/session.hpp"
#include "mtuscope/transport/wire.hpp"

namespace mtuscope::sweep {

/// What the initiator tells the responder to do; the first byte of every command. Each is answered.
enum class Command : std::uint8_t {
  hello = 0,  ///< who I am; the answer is who you are
  open = 1,   ///< open these sessions with me
  prove = 2,  ///< run the MTU proof burst of one session
  trial = 3,  ///< run one repetition of one session
  close = 4,  ///< close all sessions
  bye = 5     ///< the run is over
};

/// Raised with every change of the frames below; both ends must have the same.
inline constexpr std::uint32_t kProtocolVersion = 4;
/// Sessions one run may have: every connection at every path MTU with every working set, with room.
inline constexpr std::size_t kMaxSessions = 256;

/// The first words of both ends.
struct Hello {
  std::uint32_t protocol_version = kProtocolVersion;
  std::string mtuscope_version;
  std::string backend;
  Environment environment;
};

/// Encoders write the command byte; decoders are given what follows it. Decoders throw PeerError on anything odd.
[[nodiscard]] WireWriter encode(const Hello& hello);
[[nodiscard]] Hello decode_hello(WireReader& reader);
[[nodiscard]] WireWriter encode_open(std::span<const SessionSpec> specs);
[[nodiscard]] std::vector<SessionSpec> decode_open(WireReader& reader);
[[nodiscard]] WireWriter encode_trial(std::uint32_t session, const TrialRequest& request);
/// The session index comes first and is checked against `session_count`.
[[nodiscard]] std::pair<std::uint32_t, TrialRequest> decode_trial(WireReader& reader, std::size_t session_count);
[[nodiscard]] WireWriter encode_prove(std::uint32_t session);
[[nodiscard]] std::uint32_t decode_session(WireReader& reader, std::size_t session_count);
[[nodiscard]] WireWriter encode_command(Command command);

}  // namespace mtuscope::sweep
