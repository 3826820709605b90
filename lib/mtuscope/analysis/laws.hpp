#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mtuscope/analysis/posted.hpp"

namespace mtuscope::analysis {

/// The posted table whose author states the laws below.
inline constexpr std::string_view kTavorTableId = "tavor-mpi-2006";
/// The size of the mail's last law: "ultimately at 128K message size (not shown)" [bytes, as MPI counts].
inline constexpr std::uint64_t kTavorGapMessageSizeBytes = 131072;

/// Tolerances of the four laws of the 2006 mail. A ratio passes when its whole range lies inside the law's limits and
/// fails when its whole range lies outside.
struct TavorLawPolicy {
  /// "the same": the two posted 512 B values differ by 0.1 %, and the repetition noise of a real HCA is about 1 %.
  double same_within = 0.02;
  /// "best": more than this; below the smallest gain the author calls one (3.2 %), above repetition noise.
  double better_by = 0.01;
  /// "the 50% difference between 1K and 2K MTU" at 128K, read as 1K = 1.5 x 2K, a tenth either way. (The "40-50% drop"
  /// of another mail in the thread would be 1K ahead by 67 to 100 %, at no stated size.)
  double gap_low = 0.40;
  double gap_high = 0.60;
};

enum class LawVerdict : std::uint8_t { pass, fail, not_tested };

[[nodiscard]] constexpr const char* to_string(LawVerdict verdict) noexcept {
  switch (verdict) {
    case LawVerdict::pass:
      return "pass";
    case LawVerdict::fail:
      return "fail";
    case LawVerdict::not_tested:
      return "not tested";
  }
  return "?";
}

/// One size at which a law was looked at.
struct LawSample {
  std::uint64_t message_size_bytes = 0;
  std::uint64_t wire_size_bytes = 0;
  Ratio ratio;         ///< in the law's sense: leader / other
  bool posted = true;  ///< one of the table's own sizes, which decide; others are only reported
  LawVerdict verdict = LawVerdict::not_tested;
};

/// A law and what became of it.
struct LawResult {
  int number = 0;
  std::string statement;
  LawVerdict verdict = LawVerdict::not_tested;
  std::string reason;  ///< why it was not tested; empty otherwise
  std::vector<LawSample> samples;
};

/// Judges the four laws on wire sizes: 1. the same below 1 KiB; 2. 2K better between 1 and 2 KiB; 3. 1K better above
/// 2 KiB; 4. 1K ahead by 40 to 60 % at 128 KiB. Laws 1 to 3 are decided by the table's own sizes: that is what their
/// author saw. Other sizes of the run are kept as samples with `posted` false, so that a curve which turns back between
/// two posted sizes is seen and not counted as a failure of what was posted. Law 4 names its size.
[[nodiscard]] std::array<LawResult, 4> judge_tavor_laws(const PostedComparison& comparison,
                                                        const TavorLawPolicy& policy = {});

}  // namespace mtuscope::analysis
