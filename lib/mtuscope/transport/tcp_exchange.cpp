#include "mtuscope/transport/tcp_exchange.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "mtuscope/core/error.hpp"

namespace mtuscope {
namespace {

/// Every frame starts with these: magic, kind, payload length (little endian). Anything else is not one of us.
constexpr std::array<std::uint8_t, 4> kMagic{'m', 't', 'u', 's'};
constexpr std::size_t kFrameHeaderBytes = 9;
/// A host that vanished without a word is noticed within idle + interval x count seconds.
constexpr int kKeepAliveIdleS = 3;
constexpr int kKeepAliveIntervalS = 1;
constexpr int kKeepAliveCount = 4;

class Socket {
 public:
  explicit Socket(int fd = -1) noexcept : fd_(fd) {}
  Socket(Socket&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  ~Socket() {
    if (fd_ >= 0) close(fd_);
  }
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

struct AddressListDeleter {
  void operator()(addrinfo* list) const noexcept { freeaddrinfo(list); }
};
using AddressList = std::unique_ptr<addrinfo, AddressListDeleter>;

AddressList resolve(const std::string& host, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const int code = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (code != 0) {
    throw ConfigError("host '" + host + "' cannot be resolved: " + gai_strerror(code) +
                      "; give a name or address that `getent hosts` knows");
  }
  return AddressList{list};
}

std::string address_text(const sockaddr_storage& address, bool with_port) {
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  if (getnameinfo(reinterpret_cast<const sockaddr*>(&address), sizeof address, host.data(), host.size(), service.data(),
                  service.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "unknown address";
  }
  std::string text{host.data()};
  if (!with_port) return text;
  if (address.ss_family == AF_INET6) text = "[" + text + "]";
  return text + ":" + service.data();
}

/// True when `events` are ready on `fd` before the deadline.
bool wait_for(int fd, short events, Deadline deadline) {
  while (true) {
    pollfd entry{fd, events, 0};
    const int ready = poll(&entry, 1, deadline.left_ms());
    if (ready > 0) return true;
    if (ready == 0 && deadline.passed()) return false;
    if (ready < 0 && errno != EINTR) throw SystemError("poll on a socket", errno);
  }
}

void set_option(int fd, int level, int name, int value) noexcept {
  (void)setsockopt(fd, level, name, &value,
                   sizeof value);  // a refused option costs latency or detection time, nothing else
}

void tune(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, kKeepAliveIdleS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, kKeepAliveIntervalS);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, kKeepAliveCount);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, (kKeepAliveIdleS + kKeepAliveIntervalS * kKeepAliveCount) * 1000);
}

class TcpExchange final : public Exchange {
 public:
  TcpExchange(Socket socket, std::string peer) : socket_(std::move(socket)), peer_(std::move(peer)) {
    tune(socket_.fd());
  }

  void send(FrameKind kind, std::span<const std::byte> payload, Deadline deadline) override {
    if (payload.size() > kMaxFrameBytes) throw RunError("a message to the peer is larger than a frame may be");
    std::vector<std::byte> bytes;
    bytes.reserve(kFrameHeaderBytes + payload.size());
    for (const auto c : kMagic) bytes.push_back(std::byte{c});
    bytes.push_back(static_cast<std::byte>(kind));
    for (unsigned shift = 0; shift < 32; shift += 8)
      bytes.push_back(static_cast<std::byte>(payload.size() >> shift & 0xffU));
    bytes.insert(bytes.end(), payload.begin(), payload.end());
    write_all(bytes, deadline);
  }

  Frame receive(Deadline deadline) override {
    std::array<std::byte, kFrameHeaderBytes> header{};
    read_all(header, deadline);
    if (std::memcmp(header.data(), kMagic.data(), kMagic.size()) != 0) {
      throw PeerError("the peer " + peer_ +
                      " does not speak mtuscope's protocol; is it `mtuscope serve`, and the right port?");
    }
    const auto kind = std::to_integer<std::uint8_t>(header[4]);
    if (kind < static_cast<std::uint8_t>(FrameKind::data) || kind > static_cast<std::uint8_t>(FrameKind::gone)) {
      throw PeerError("the peer " + peer_ + " sent a malformed message (unknown kind)");
    }
    std::size_t size = 0;
    for (unsigned i = 0; i < 4; ++i) size |= std::to_integer<std::size_t>(header[5 + i]) << (8 * i);
    if (size > kMaxFrameBytes) throw PeerError("the peer " + peer_ + " announced a message that is too large");
    Frame frame{static_cast<FrameKind>(kind), std::vector<std::byte>(size)};
    read_all(frame.payload, deadline);
    return frame;
  }

  bool readable_within(int wait_ms) noexcept override {
    pollfd entry{socket_.fd(), POLLIN, 0};
    return poll(&entry, 1, wait_ms) > 0;
  }

  bool peer_alive() noexcept override {
    char byte = 0;
    const auto got = recv(socket_.fd(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return got > 0 || (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR));
  }

  std::string peer_name() const override { return peer_; }

 private:
  void write_all(std::span<const std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
      const auto sent = ::send(socket_.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(sent));
      } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        if (!wait_for(socket_.fd(), POLLOUT, deadline))
          throw PeerError("the peer " + peer_ + " takes no messages any more");
      } else {
        throw PeerError("the connection to " + peer_ + " is gone: " + error_text(errno));
      }
    }
  }

  void read_all(std::span<std::byte> bytes, Deadline deadline) {
    while (!bytes.empty()) {
      const auto got = recv(socket_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got > 0) {
        bytes = bytes.subspan(static_cast<std::size_t>(got));
      } else if (got == 0) {
        throw PeerError("the peer " + peer_ + " closed the connection");
      } else if (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR) {
        if (!wait_for(socket_.fd(), POLLIN, deadline)) throw PeerError("the peer " + peer_ + " did not answer in time");
      } else {
        throw PeerError("the connection to " + peer_ + " is gone: " + error_text(errno));
      }
    }
  }

  Socket socket_;
  std::string peer_;
};

/// Errors of accept(2) that concern one client, or the network at this moment, and not the listener.
bool passing(int error_number) noexcept {
  constexpr std::array kPassing{EINTR,     EAGAIN,       ECONNABORTED, EPROTO,      ENETDOWN, ENOPROTOOPT,
                                EHOSTDOWN, EHOSTUNREACH, EOPNOTSUPP,   ENETUNREACH, EPERM};
  return std::find(kPassing.begin(), kPassing.end(), error_number) != kPassing.end();
}

class TcpListenerImpl final : public TcpListener {
 public:
  explicit TcpListenerImpl(Socket socket) : socket_(std::move(socket)) {
    socklen_t size = sizeof address_;
    if (getsockname(socket_.fd(), reinterpret_cast<sockaddr*>(&address_), &size) != 0)
      throw SystemError("getsockname", errno);
  }
  std::uint16_t port() const noexcept override {
    return ntohs(address_.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address_).sin6_port
                                                : reinterpret_cast<const sockaddr_in&>(address_).sin_port);
  }
  std::string address() const override { return address_text(address_, false); }

  std::unique_ptr<Exchange> accept(const std::atomic<bool>& stop) override {
    constexpr std::uint64_t kLookNs = 200'000'000;  // how late a stop may be noticed
    while (!stop) {
      if (!wait_for(socket_.fd(), POLLIN, Deadline::after_ns(kLookNs))) continue;
      sockaddr_storage peer{};
      socklen_t size = sizeof peer;
      Socket client{accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&peer), &size, SOCK_CLOEXEC)};
      if (client.fd() >= 0) return std::make_unique<TcpExchange>(std::move(client), address_text(peer, true));
      if (!passing(errno)) throw SystemError("accept on port " + std::to_string(port()), errno);
    }
    return nullptr;
  }

 private:
  Socket socket_;
  sockaddr_storage address_{};
};

/// A connected socket, or an invalid one with errno set.
Socket try_connect(const addrinfo& address, Deadline deadline) {
  Socket socket{::socket(address.ai_family, address.ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, address.ai_protocol)};
  if (socket.fd() < 0) return socket;
  if (connect(socket.fd(), address.ai_addr, address.ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return Socket{};
  if (!wait_for(socket.fd(), POLLOUT, deadline)) {
    errno = ETIMEDOUT;
    return Socket{};
  }
  int error = 0;
  socklen_t size = sizeof error;
  if (getsockopt(socket.fd(), SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0) {
    errno = error;
    return Socket{};
  }
  return socket;
}

}  // namespace

std::unique_ptr<TcpListener> listen_tcp(const std::string& address, std::uint16_t port) {
  const auto list = resolve(address, port, AI_PASSIVE);
  const std::string where = "port " + std::to_string(port) + " on " + address;
  constexpr int kBacklog = 16;
  Socket socket{::socket(list->ai_family, list->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, list->ai_protocol)};
  if (socket.fd() < 0) throw SystemError("socket for " + where, errno);
  set_option(socket.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (bind(socket.fd(), list->ai_addr, list->ai_addrlen) != 0 || listen(socket.fd(), kBacklog) != 0) {
    throw SystemError("cannot listen on " + where + " (choose another --port, or 0 to let the kernel choose)", errno);
  }
  return std::make_unique<TcpListenerImpl>(std::move(socket));
}

std::unique_ptr<Exchange> connect_tcp(const std::string& host, std::uint16_t port, Deadline deadline) {
  const auto list = resolve(host, port, 0);
  int left = 0;
  for (const auto* address = list.get(); address != nullptr; address = address->ai_next) ++left;
  int error = 0;
  for (const auto* address = list.get(); address != nullptr; address = address->ai_next, --left) {
    // An address that swallows everything must leave time for the others.
    constexpr std::uint64_t kNsPerMs = 1'000'000;
    const auto share_ms = deadline.left_ms() / left;
    auto socket = try_connect(*address, Deadline::after_ns(static_cast<std::uint64_t>(share_ms) * kNsPerMs));
    if (socket.fd() >= 0) {
      sockaddr_storage peer{};
      std::memcpy(&peer, address->ai_addr, std::min<std::size_t>(sizeof peer, address->ai_addrlen));
      return std::make_unique<TcpExchange>(std::move(socket), address_text(peer, true));
    }
    error = errno;
  }
  throw PeerError("cannot connect to " + host + " port " + std::to_string(port) + ": " + error_text(error) +
                  "; is `mtuscope serve --bind " + host + " --port " + std::to_string(port) + "` running there?");
}

}  // namespace mtuscope
