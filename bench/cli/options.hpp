#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/tcp_exchange.hpp"

namespace mtuscope::cli {

/// Which RDMA device, port and GID; empty: the first that can be used.
struct DeviceOptions {
  std::string device;
  std::optional<std::uint32_t> port;
  std::optional<std::uint32_t> gid_index;
};

/// Where the measuring thread runs; empty: where the kernel puts it.
struct PlacementOptions {
  std::optional<std::uint32_t> cpu;
  std::optional<std::uint32_t> numa_node;
};

struct DevicesOptions {
  bool json = false;
};

struct ServeOptions {
  std::string bind_address = "127.0.0.1";
  std::uint16_t port = kDefaultTcpPort;
  DeviceOptions device;
  PlacementOptions placement;
};

/// The axes of working sets of blocks; no counts: one buffer.
struct WorkingSetOptions {
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> sizes_bytes;  ///< empty: 32 KiB
  std::vector<ReuseOrder> orders{ReuseOrder::fifo};
  MrMode mr_mode = MrMode::one;
  BufferSide side = BufferSide::both;
  std::uint64_t page_size_bytes = 4096;
  std::uint32_t alias_count = 1;
  std::optional<std::uint32_t> in_flight;
};

struct SweepOptions {
  std::string backend = "verbs";
  std::string peer_host;  ///< empty: no --peer
  std::uint16_t peer_port = kDefaultTcpPort;
  bool loopback = false;
  DeviceOptions device;
  DeviceOptions peer_device;  ///< of the other end of a loopback run, or of rank 1
  PlacementOptions placement;
  sweep::SweepSpec spec;  ///< without path MTUs and sizes, which depend on the back end
  std::optional<std::string> path_mtus;
  std::optional<std::string> sizes;
  bool connections_given = false;
  bool wait_mode_given = false;
  bool tx_depth_given = false;
  bool rx_depth_given = false;
  WorkingSetOptions blocks;
  bool launched = false;  ///< by `mtuscope mpi`, once per path MTU
  bool by_mpi = false;    ///< this is a rank of mtuscope-mpi: MPI found the peer, and its launcher places the ranks
  std::string pairs;      ///< mtuscope-mpi: all, ring, halves or list:FILE; empty: two ranks
  bool both_directions = false;                ///< each pair once more with its ranks exchanged
  std::optional<std::uint32_t> pairs_at_once;  ///< empty: all of a round
  std::uint64_t round_timeout_ns = 600'000'000'000U;
  std::string options_file;              ///< mtuscope-mpi: main has put its words in place before
  std::vector<std::string> environment;  ///< NAME=VALUE; main has set them before MPI was started
  std::optional<std::uint32_t> header_bytes;
  std::string out;  ///< file name, "-", or empty
  bool overwrite = false;
  bool resume = false;
};

/// `mtuscope mpi`: mtuscope-mpi, launched once per arrangement and path MTU.
struct MpiOptions {
  SweepOptions sweep;                  ///< what follows "--", with path MTUs and output of our own
  std::string launcher;                ///< "mpirun -np 2 --host a,b"
  std::string program;                 ///< mtuscope-mpi; empty: beside this program, or in PATH
  std::string mtu_knob = "ucx";        ///< name of a known one
  std::optional<std::string> mtu_env;  ///< "NAME=%d", instead of --mtu-knob
  std::uint64_t launch_timeout_ns = 600'000'000'000U;
  std::vector<std::string> rank_options;  ///< what follows "--", as it was written
};

struct ValidateOptions {
  std::vector<std::string> files;
};

struct TablesOptions {
  bool json = false;
};

struct CompareOptions {
  std::string run;    ///< file, or the id of a posted table
  std::string table;  ///< id of a posted table, or a file
  bool require = false;
};

struct BlocksOptions {
  std::string run;                  ///< record
  std::vector<std::string> floors;  ///< records of null and memset; empty: those beside the run
  std::optional<std::uint64_t> need_bytes;
  double drop = 0.10;
};

using CommandOptions = std::variant<DevicesOptions, ServeOptions, SweepOptions, MpiOptions, ValidateOptions,
                                    TablesOptions, CompareOptions, BlocksOptions>;

/// What the command line asks for.
struct Request {
  CommandOptions command;
  bool quiet = false;     ///< no progress, tables or notes: only what was asked for and errors
  bool no_color = false;  ///< plain text even on a terminal
};

/// Help or version text that was asked for.
struct HelpText {
  std::string text;
};

/// Which program's command line it is: their sweeps differ in how the other end is found.
enum class Program : std::uint8_t { mtuscope, mtuscope_mpi };

/// Throws ConfigError with one line that names the option and what to do.
[[nodiscard]] std::variant<Request, HelpText> parse_command_line(int argc, const char* const* argv,
                                                                 Program program = Program::mtuscope);

}  // namespace mtuscope::cli
