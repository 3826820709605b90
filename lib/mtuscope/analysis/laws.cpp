#include "mtuscope/analysis/laws.hpp"

#include <limits>
#include <utility>

namespace mtuscope::analysis {
namespace {

constexpr std::uint64_t kOneKiB = 1024;
constexpr std::uint64_t kTwoKiB = 2048;

/// A law as data: where it holds, who is divided by whom, and between which limits the ratio must lie.
struct Law {
  int number;
  const char* statement;
  std::uint64_t above_wire_bytes;  // exclusive
  std::uint64_t below_wire_bytes;  // exclusive
  PathMtu numerator;
  PathMtu denominator;
  double low;
  double high;
};

LawVerdict judge(const Ratio& ratio, const Law& law) noexcept {
  if (ratio.low >= law.low && ratio.high <= law.high) return LawVerdict::pass;
  if (ratio.high < law.low || ratio.low > law.high) return LawVerdict::fail;
  return LawVerdict::not_tested;
}

bool is_posted_size(const Series& table, std::uint64_t wire_size_bytes) noexcept {
  for (const auto& [mtu, curve] : table.curves) {
    if (find_wire_size(curve, wire_size_bytes) != nullptr) return true;
  }
  return false;
}

void decide(LawResult& result, bool intervals_missing) {
  bool any_pass = false;
  bool any_open = false;
  for (const auto& sample : result.samples) {
    if (!sample.posted) continue;
    if (sample.verdict == LawVerdict::fail) {
      result.verdict = LawVerdict::fail;
      return;
    }
    any_pass = any_pass || sample.verdict == LawVerdict::pass;
    any_open = any_open || sample.verdict == LawVerdict::not_tested;
  }
  if (any_open || intervals_missing) {
    result.reason = any_open ? "an interval reaches across the limit: more trials or arrangements would decide"
                             : "too few trials for an interval";
    return;
  }
  if (any_pass) {
    result.verdict = LawVerdict::pass;
  } else {
    result.reason = "the run has none of the table's sizes in this range at both MTUs";
  }
}

LawResult apply(const Law& law, const PostedComparison& comparison, bool all_sizes_decide) {
  LawResult result{law.number, law.statement, LawVerdict::not_tested, {}, {}};
  const auto& curves = comparison.run.curves;
  const auto numerator = curves.find(law.numerator);
  const auto denominator = curves.find(law.denominator);
  if (numerator == curves.end() || denominator == curves.end()) {
    result.reason = "the run does not have both path MTUs, 1K and 2K";
    return result;
  }
  bool intervals_missing = false;
  for (const auto& point : numerator->second) {
    if (point.wire_size_bytes <= law.above_wire_bytes || point.wire_size_bytes >= law.below_wire_bytes) continue;
    const auto* other = find_wire_size(denominator->second, point.wire_size_bytes);
    if (other == nullptr) continue;
    const bool posted = all_sizes_decide || is_posted_size(comparison.table, point.wire_size_bytes);
    const auto ratio = ratio_of(point, *other);
    if (!ratio) {
      intervals_missing = intervals_missing || posted;
      continue;
    }
    result.samples.push_back({point.message_size_bytes, point.wire_size_bytes, *ratio, posted, judge(*ratio, law)});
  }
  decide(result, intervals_missing);
  return result;
}

}  // namespace

std::array<LawResult, 4> judge_tavor_laws(const PostedComparison& comparison, const TavorLawPolicy& policy) {
  constexpr double kNoLimit = std::numeric_limits<double>::infinity();
  const std::uint64_t header = comparison.run_common.header_bytes != 0 ? comparison.run_common.header_bytes
                                                                       : comparison.table_common.header_bytes;
  // A run without MPI may have asked for 128 KiB on the wire, or for what MPI puts on the wire for 128 KiB.
  const Law same{1,
                 "1K and 2K are the same below 1 KiB",
                 0,
                 kOneKiB,
                 PathMtu::mtu2048,
                 PathMtu::mtu1024,
                 1 / (1 + policy.same_within),
                 1 + policy.same_within};
  const Law two_k{2,
                  "2K is better between 1 and 2 KiB",
                  kOneKiB,
                  kTwoKiB,
                  PathMtu::mtu2048,
                  PathMtu::mtu1024,
                  1 + policy.better_by,
                  kNoLimit};
  const Law one_k{3,
                  "1K is better above 2 KiB",
                  kTwoKiB,
                  std::numeric_limits<std::uint64_t>::max(),
                  PathMtu::mtu1024,
                  PathMtu::mtu2048,
                  1 + policy.better_by,
                  kNoLimit};
  const Law gap{4,
                "1K is ahead by 40 to 60 % at 128 KiB",
                kTavorGapMessageSizeBytes - 1,
                kTavorGapMessageSizeBytes + header + 1,
                PathMtu::mtu1024,
                PathMtu::mtu2048,
                1 + policy.gap_low,
                1 + policy.gap_high};
  return {apply(same, comparison, false), apply(two_k, comparison, false), apply(one_k, comparison, false),
          apply(gap, comparison, true)};
}

}  // namespace mtuscope::analysis
