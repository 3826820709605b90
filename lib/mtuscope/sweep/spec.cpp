#include "mtuscope/sweep/spec.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

#include "mtuscope/core/error.hpp"
#include "mtuscope/transport/stream_kernel.hpp"

namespace mtuscope::sweep {
namespace {

constexpr std::size_t kMaxSizes = 100'000;

std::string quoted(std::string_view text) { return "'" + std::string{text} + "'"; }

/// Splits at commas; an empty part is a mistake worth telling.
std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::uint64_t parse_size(std::string_view text) {
  const auto bytes = parse_bytes(text);
  if (bytes == 0) throw ConfigError("message size " + quoted(text) + ": 0 is no message; the smallest is 1");
  if (bytes > kMaxMessageBytes) {
    throw ConfigError("message size " + quoted(text) + " is above 2G, the most one work request can carry");
  }
  return bytes;
}

void add_size(std::vector<std::uint64_t>& sizes, std::uint64_t bytes, std::string_view text) {
  if (sizes.size() >= kMaxSizes) throw ConfigError("--size " + quoted(text) + " gives more than 100,000 sizes");
  sizes.push_back(bytes);
}

/// `A:B` doubles from A to B, `A:B:+S` steps by S; B itself is included when it is hit.
void add_range(std::vector<std::uint64_t>& sizes, std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 3 || (parts.size() == 3 && !parts[2].starts_with('+'))) {
    throw ConfigError("message sizes " + quoted(text) + ": write FIRST:LAST to double, FIRST:LAST:+STEP to step");
  }
  const auto first = parse_size(parts[0]);
  const auto last = parse_size(parts[1]);
  if (last < first) throw ConfigError("message sizes " + quoted(text) + ": the range runs backwards");
  if (parts.size() == 2) {
    for (auto bytes = first; bytes <= last; bytes *= 2) add_size(sizes, bytes, text);
    return;
  }
  if (parse_bytes(parts[2].substr(1)) == 0)
    throw ConfigError("message sizes " + quoted(text) + ": a step of 0 never ends; the smallest is +1");
  const auto step = parse_size(parts[2].substr(1));
  for (auto bytes = first; bytes <= last; bytes += step) add_size(sizes, bytes, text);
}

void sort_unique(std::vector<std::uint64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

void require(bool holds, const char* message) {
  if (!holds) throw ConfigError(message);
}

/// Whether any point is sent with credits.
bool uses_credits(const SweepSpec& spec) {
  const auto lossy = [](Connection c) { return c == Connection::uc || c == Connection::ud; };
  return spec.flow_control && std::any_of(spec.connections.begin(), spec.connections.end(), lossy);
}

/// FNV-1a, 64 bit (G. Fowler, L. C. Noll, K.-P. Vo; draft-eastlake-fnv).
class Hash {
 public:
  void add(std::uint64_t value) noexcept {
    for (int i = 0; i < 8; ++i, value >>= 8U) {
      hash_ ^= value & 0xffU;
      hash_ *= 0x100000001b3U;
    }
  }
  template <class Range>
  void add_all(const Range& values) noexcept {
    add(values.size());
    for (const auto value : values) add(static_cast<std::uint64_t>(value));
  }
  void add_working_set(const WorkingSet& set) noexcept {
    for (const std::uint64_t value : {set.block_count, set.block_size_bytes, set.page_size_bytes,
                                      std::uint64_t{set.alias_count}, static_cast<std::uint64_t>(set.mr_mode),
                                      static_cast<std::uint64_t>(set.order), static_cast<std::uint64_t>(set.side)}) {
      add(value);
    }
  }
  [[nodiscard]] std::uint64_t value() const noexcept { return hash_; }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325U;
};

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) throw ConfigError(quoted(text) + " is no number of bytes; write 512, 4K, 1M or 1G");
  unsigned shift = 0;
  std::string_view suffix{end, static_cast<std::size_t>(text.data() + text.size() - end)};
  if (!suffix.empty()) {
    switch (suffix.front()) {
      case 'k':
      case 'K':
        shift = 10;
        break;
      case 'm':
      case 'M':
        shift = 20;
        break;
      case 'g':
      case 'G':
        shift = 30;
        break;
      default:
        shift = 64;
    }
    suffix.remove_prefix(1);
  }
  const bool iec = suffix == "iB" && shift < 64;  // 4KiB is 4K; "kB" would be read as 1000 by some, so it is refused
  if (shift == 64 || !(suffix.empty() || iec)) {
    throw ConfigError(quoted(text) + " has an unknown unit; K, M and G are 2^10, 2^20 and 2^30 bytes");
  }
  if (value > (std::numeric_limits<std::uint64_t>::max() >> shift)) throw ConfigError(quoted(text) + " is too large");
  return value << shift;
}

std::vector<std::uint64_t> parse_sizes(std::string_view text) {
  std::vector<std::uint64_t> sizes;
  for (const auto part : split(text, ',')) {
    if (part.find(':') != std::string_view::npos) {
      add_range(sizes, part);
    } else {
      add_size(sizes, parse_size(part), text);
    }
  }
  sort_unique(sizes);
  return sizes;
}

std::vector<PathMtu> parse_path_mtus(std::string_view text) {
  std::vector<PathMtu> mtus;
  for (const auto part : split(text, ',')) {
    const bool is_number = !part.empty() && part.front() >= '0' && part.front() <= '9';
    const auto mtu = is_number ? path_mtu_from_bytes(parse_bytes(part)) : std::nullopt;
    if (!mtu) throw ConfigError(quoted(part) + " is no path MTU; InfiniBand has 256, 512, 1K, 2K and 4K");
    if (std::find(mtus.begin(), mtus.end(), *mtu) == mtus.end()) mtus.push_back(*mtu);
  }
  return mtus;
}

std::vector<std::uint64_t> default_sizes(const std::vector<PathMtu>& path_mtus) {
  constexpr unsigned kLargestPower = 20;
  constexpr std::uint64_t kEdges = 4;
  std::vector<std::uint64_t> sizes;
  for (unsigned power = 0; power <= kLargestPower; ++power) sizes.push_back(std::uint64_t{1} << power);
  for (const auto mtu : path_mtus) {
    for (std::uint64_t k = 1; k <= kEdges; ++k) {
      const auto edge = k * to_bytes(mtu);
      sizes.insert(sizes.end(), {edge - 1, edge, edge + 1});
    }
  }
  sort_unique(sizes);
  return sizes;
}

void check(const SweepSpec& spec) {
  const bool may_lack_mtu = std::all_of(spec.connections.begin(), spec.connections.end(), [](Connection connection) {
    return connection == Connection::mpi || connection == Connection::gm || connection == Connection::none;
  });
  require(!spec.connections.empty() && !spec.operations.empty() && !spec.patterns.empty() &&
              (may_lack_mtu || !spec.path_mtus.empty()) && !spec.message_sizes_bytes.empty(),
          "nothing to measure: connection, operation, pattern, MTU and size each need at least one value");
  require(spec.tx_depth >= 1 && spec.tx_depth <= kMaxDepth, "--tx-depth must be between 1 and 32768");
  require(spec.rx_depth >= 1 && spec.rx_depth <= kMaxDepth, "--rx-depth must be between 1 and 32768");
  require(spec.qp_count >= 1 && spec.qp_count <= kMaxQpCount, "--qp must be between 1 and 1024");
  require(spec.post_list >= 1 && spec.post_list <= spec.tx_depth,
          "--post-list must be at least 1 and fit into --tx-depth: a whole list is posted at once");
  require(spec.cq_mod >= 1 && spec.cq_mod <= spec.tx_depth,
          "--cq-mod must be at least 1 and fit into --tx-depth: the queue would fill before a completion comes");
  require(spec.post_list == 1 || spec.cq_mod + spec.post_list - 1 <= spec.tx_depth,
          "--cq-mod and --post-list together exceed --tx-depth: no room for a list while a completion is due");
  require(!uses_credits(spec) || spec.rx_depth >= kMinCreditDepth,
          "--rx-depth below 16 leaves no room for flow control; raise it or give --no-flow-control");
  require(spec.retry_count <= kMaxRetryCount, "the retry count must be at most 6: 7 means for ever on some devices");
  require(spec.service_level <= kMaxServiceLevel, "--sl must be between 0 and 15");
  require(!uses_credits(spec) || spec.post_list <= spec.rx_depth - kCreditReserve,
          "--post-list does not fit into --rx-depth less 8, the window of flow control: lower it, raise --rx-depth or "
          "give --no-flow-control");
  require(!spec.messages || (*spec.messages >= 1 && *spec.messages <= kMaxTrialMessages),
          "--messages must be between 1 and 2^40");
  require(spec.stop.relative_interval > 0 && spec.stop.relative_interval <= 1,
          "--ci must be above 0 and at most 100 %");
  require(spec.stop.arrangements >= 1 && spec.stop.min_trials >= 1,
          "--arrangements and --min-trials must be at least 1");
  require(spec.stop.max_trials >= spec.stop.min_trials, "--max-trials is below --min-trials");
  require(spec.stop.min_trials >= spec.stop.arrangements, "--min-trials is below --arrangements: each needs a trial");
  require(spec.trial_time_ns <= kMaxTrialTimeNs, "--trial-time must be at most 10 min: give more trials instead");
  require(spec.slice_time_ns <= kMaxTrialTimeNs, "--slice-time must be at most 10 min");
  require(spec.timeout_ns >= kMinTimeoutNs && spec.timeout_ns <= kMaxTimeoutNs,
          "--timeout must be between 0.1 s and 10 min");
  require(spec.passes.empty() || spec.messages, "a directional sweep needs a fixed number of --messages for each size");
  check_working_sets(spec);
}

std::uint64_t plan_hash(const SweepSpec& spec) {
  Hash hash;
  hash.add_all(spec.connections);
  hash.add_all(spec.operations);
  hash.add_all(spec.patterns);
  hash.add_all(spec.path_mtus);
  hash.add_all(spec.message_sizes_bytes);
  hash.add_all(spec.passes);
  hash.add(spec.working_sets.size());
  for (const auto& set : spec.working_sets) hash.add_working_set(set);
  for (const std::uint64_t value : {std::uint64_t{spec.header_bytes},
                                    std::uint64_t{spec.tx_depth},
                                    std::uint64_t{spec.rx_depth},
                                    std::uint64_t{spec.post_list},
                                    std::uint64_t{spec.cq_mod},
                                    std::uint64_t{spec.inline_bytes},
                                    std::uint64_t{spec.qp_count},
                                    static_cast<std::uint64_t>(spec.wait_mode),
                                    static_cast<std::uint64_t>(spec.connect_method),
                                    std::uint64_t{spec.service_level},
                                    std::uint64_t{spec.traffic_class},
                                    std::uint64_t{spec.retry_count},
                                    std::uint64_t{spec.segment},
                                    std::uint64_t{spec.flow_control},
                                    spec.messages.value_or(0),
                                    spec.trial_time_ns,
                                    spec.slice_time_ns,
                                    std::uint64_t{spec.verify_payload},
                                    spec.seed,
                                    std::uint64_t{spec.stop.arrangements},
                                    std::uint64_t{spec.stop.min_trials}}) {
    hash.add(value);
  }
  return hash.value();
}

}  // namespace mtuscope::sweep
