#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mtuscope/core/path_mtu.hpp"

namespace mtuscope {

/// How two ends are connected: the InfiniBand transport services, or what stands in their place (gm: Myrinet's).
enum class Connection : std::uint8_t { rc, uc, ud, mpi, gm, tcp, none };
/// What one message is: the verbs opcode (`send` also names an MPI send).
enum class Operation : std::uint8_t { send, write, read };
/// How messages follow each other.
enum class Pattern : std::uint8_t { stream, bidirectional, ping_pong };
/// How a completion is waited for: busy polling, polling that yields the CPU, or blocking on completion events.
enum class WaitMode : std::uint8_t { spin, yield, event };
/// Who brought the QP up: our own exchange over TCP (or in process), or librdmacm.
enum class ConnectMethod : std::uint8_t { tcp, cm };
/// Which pass of a directional sweep a point belongs to.
enum class Pass : std::uint8_t { none, up, down };
/// Order in which registered blocks are reused.
enum class ReuseOrder : std::uint8_t { fifo, lifo, random, sawtooth };
/// One memory region over all blocks, or one for each.
enum class MrMode : std::uint8_t { one, per_block };
/// Which end cycles through the blocks.
enum class BufferSide : std::uint8_t { source, destination, both };

/// Registered blocks cycled through by the messages of a point.
struct WorkingSet {
  std::uint64_t block_count = 1;
  std::uint64_t block_size_bytes = 0;
  std::uint64_t page_size_bytes = 4096;
  std::uint32_t alias_count = 1;  ///< virtual mappings of the same physical pages
  MrMode mr_mode = MrMode::one;
  ReuseOrder order = ReuseOrder::fifo;
  BufferSide side = BufferSide::both;
  friend bool operator==(const WorkingSet&, const WorkingSet&) = default;
};

/// The two hosts a point ran between, initiator first; one entry of a pair matrix.
struct Pair {
  std::string initiator;
  std::string responder;
  friend bool operator==(const Pair&, const Pair&) = default;
};

/// Everything that identifies one measured value. An empty optional means "not stated" (posted and imported tables);
/// a point that we measure ourselves states all of them that apply.
struct Point {
  Connection connection = Connection::rc;
  Operation operation = Operation::send;
  Pattern pattern = Pattern::stream;
  std::optional<PathMtu> path_mtu;       ///< for UD: the datagram limit
  std::uint64_t message_size_bytes = 0;  ///< as the user of `connection` counts it (an MPI size for MPI)
  std::uint32_t header_bytes = 0;        ///< what that user's library adds; wire size = message size + header
  std::optional<std::uint32_t> tx_depth;
  std::optional<std::uint32_t> rx_depth;
  std::optional<std::uint32_t> post_list;
  std::optional<std::uint32_t> cq_mod;  ///< every n-th work request is signaled
  std::optional<std::uint32_t> inline_bytes;
  std::optional<std::uint32_t> qp_count;
  std::optional<WaitMode> wait_mode;
  std::optional<ConnectMethod> connect_method;
  bool segmented = false;  ///< UD only: messages above the datagram limit are cut into datagrams
  std::optional<WorkingSet> working_set;
  std::optional<Pair> pair;
  Pass pass = Pass::none;
  friend bool operator==(const Point&, const Point&) = default;
};

/// Message size plus the library's header: what the HCA is asked to move [bytes].
[[nodiscard]] constexpr std::uint64_t wire_size_bytes(const Point& point) noexcept {
  return point.message_size_bytes + point.header_bytes;
}

/// The words of flags and JSON ("rc", "ping-pong", "per-block", ...).
[[nodiscard]] std::string_view to_string(Connection value) noexcept;
[[nodiscard]] std::string_view to_string(Operation value) noexcept;
[[nodiscard]] std::string_view to_string(Pattern value) noexcept;
[[nodiscard]] std::string_view to_string(WaitMode value) noexcept;
[[nodiscard]] std::string_view to_string(ConnectMethod value) noexcept;
[[nodiscard]] std::string_view to_string(Pass value) noexcept;
[[nodiscard]] std::string_view to_string(ReuseOrder value) noexcept;
[[nodiscard]] std::string_view to_string(MrMode value) noexcept;
[[nodiscard]] std::string_view to_string(BufferSide value) noexcept;

/// The inverse of to_string for any of the enumerations above; nothing for an unknown word.
template <class Enum>
[[nodiscard]] std::optional<Enum> enum_from_string(std::string_view word) noexcept;

/// "4000 blocks of 32768 B, lifo", and what of the rest is not usual: memory regions, pages, aliases, side.
[[nodiscard]] std::string describe(const WorkingSet& set);

/// One line naming a point in messages: "rc send stream mtu 1024 size 4096 B".
[[nodiscard]] std::string describe(const Point& point);

}  // namespace mtuscope
