#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "mtuscope/transport/exchange.hpp"

namespace mtuscope {

/// The port `serve` takes when none is given. Next to perftest's 18515, so that both can run on one host.
inline constexpr std::uint16_t kDefaultTcpPort = 18525;

/// A listening socket of `serve`.
class TcpListener {
 public:
  TcpListener() = default;
  TcpListener(const TcpListener&) = delete;
  TcpListener& operator=(const TcpListener&) = delete;
  virtual ~TcpListener() = default;

  /// The port really bound; the kernel's choice when 0 was asked for.
  [[nodiscard]] virtual std::uint16_t port() const noexcept = 0;
  /// The address bound, as text.
  [[nodiscard]] virtual std::string address() const = 0;
  /// The next client, or null once `stop` is set. Throws SystemError.
  [[nodiscard]] virtual std::unique_ptr<Exchange> accept(const std::atomic<bool>& stop) = 0;
};

/// Listens on `address` (name or number). Throws ConfigError when the name is unknown, SystemError naming address and
/// port when it is in use or may not be bound.
[[nodiscard]] std::unique_ptr<TcpListener> listen_tcp(const std::string& address, std::uint16_t port);

/// Connects to a serving peer, trying every address of `host` until the deadline. Throws PeerError naming host, port
/// and what to check.
[[nodiscard]] std::unique_ptr<Exchange> connect_tcp(const std::string& host, std::uint16_t port, Deadline deadline);

}  // namespace mtuscope
