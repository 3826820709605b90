#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "mtuscope/core/point.hpp"
#include "mtuscope/records/result_set.hpp"

/// The block study: at which working set of registered blocks a device becomes slow.
namespace mtuscope::analysis {

struct BlockPolicy {
  double drop = 0.10;  ///< a point is dropped when its time exceeds the floor's by more than this share
};

/// Pages touched in one cycle through all blocks: block count x ceil(message size / page size). 0 for a page size of 0.
[[nodiscard]] std::uint64_t pages_per_cycle(const WorkingSet& set, std::uint64_t message_size_bytes) noexcept;

/// One message size of one pass.
struct BlockPoint {
  std::uint64_t message_size_bytes = 0;
  std::uint64_t pages_per_cycle = 0;
  double time_ns = 0;                   ///< per message: size / bandwidth
  std::optional<double> low_time_ns{};  ///< of its interval; empty: none (a model, or too few trials)
  bool exact = false;                   ///< a deterministic back end; it needs no interval
  bool dropped = false;
};

/// Time per message against size, T = o + s / B.
struct BlockFloor {
  double overhead_ns = 0;
  double ns_per_byte = 0;
  [[nodiscard]] double time_ns(std::uint64_t size_bytes) const noexcept {
    return overhead_ns + ns_per_byte * static_cast<double>(size_bytes);
  }
};

/// Two neighbouring message sizes of one pass, between which the time changes.
struct DropEdge {
  std::uint64_t good_size_bytes = 0;     ///< up: the largest before the drop; down: the one at which it recovers
  std::uint64_t dropped_size_bytes = 0;  ///< the smallest of the lasting drop
};

/// [largest good, smallest bad] pages per cycle; an empty bound was not reached by the run.
struct CapacityInterval {
  std::optional<std::uint64_t> low_pages;
  std::optional<std::uint64_t> high_pages;
  friend bool operator==(const CapacityInterval&, const CapacityInterval&) = default;
};

/// Everything in a record that differs in message size and pass only.
struct BlockCurve {
  Point common;                  ///< message size 0, no pass
  std::vector<BlockPoint> up;    ///< ascending in size; a run without passes stands here too
  std::vector<BlockPoint> down;  ///< ascending in size, though measured descending
  std::optional<BlockFloor> floor;
  std::optional<DropEdge> up_edge;
  std::optional<DropEdge> down_edge;
  /// Bandwidth lost on the way down beside the way up, as a share of the floor's, integrated over the sizes of both
  /// passes by trapezoids [bytes of message size]. Empty without both passes.
  std::optional<double> loop_area_bytes;
  CapacityInterval capacity;
};

/// The curves of a record and what they say together.
struct BlockStudy {
  std::vector<BlockCurve> curves;        ///< in order of first appearance
  CapacityInterval capacity;             ///< of the FIFO curves together; both bounds empty unless `collapses`
  bool collapses = true;                 ///< the FIFO curves' capacity intervals overlap
  std::uint64_t page_size_bytes = 0;     ///< of the FIFO curves; 0: none, or they differ
  std::uint64_t largest_page_count = 0;  ///< pages per cycle that were tried in FIFO order: "no cliff up to N pages"
};

/// Edges, hysteresis and capacity of every curve in `record`; measured points with a working set and a bandwidth only.
///
/// The floor is fitted to points that differ in nothing but the working set, its size and the pass. It starts from the
/// points in LIFO order where they have 2 sizes or more, else from the lowest quarter of all points by pages per cycle
/// (but at least 2 sizes), as Theil and Sen do (P. K. Sen, J. Am. Stat. Assoc. 63 (1968) 1379): the median of all
/// slopes between sizes, on the median time of each. Then the points within `drop` of it join and it is fitted again.
/// A run that begins beyond the cliff, with no LIFO order, therefore has a wrong floor: it must have small working
/// sets.
///
/// A point is dropped when its time is above the floor's by more than `drop`, the whole interval too where it has one;
/// one without an interval that is not exact is judged by its value. A drop lasts when the next larger size is dropped
/// too, or there is none. The down edge is where the drop that the way down starts in ends. Capacity: above the last
/// size that is good both ways, below the first that is bad both ways, so a bistable size is in the interval.
/// Throws std::invalid_argument unless 0 < drop <= 1.
[[nodiscard]] BlockStudy study_blocks(const records::ResultSet& record, const BlockPolicy& policy = {});

enum class NeedVerdict : std::uint8_t { pass, fail, undecided };

/// Whether `need_bytes` of buffers can be cycled: pass if the lower bound of the capacity is enough, fail if the upper
/// bound is not, else undecided.
[[nodiscard]] NeedVerdict judge_need(const BlockStudy& study, std::uint64_t need_bytes) noexcept;

}  // namespace mtuscope::analysis
