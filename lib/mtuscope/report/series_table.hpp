#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/report/text_table.hpp"

namespace mtuscope::report {

/// What must stand before numbers that no wire has carried or that we have not measured: "MODEL, not measured: ",
/// "POSTED: ", "OWN COST, nothing is sent: "; empty for measured ones.
[[nodiscard]] std::string_view label_of(Source source, std::string_view backend) noexcept;

/// Which points of a plan or record stand in which table, row and column; the same for a table that grows while the
/// run goes on and for one printed from a file.
struct SeriesLayout {
  Point common;                                   ///< path MTU empty and message size 0
  std::vector<std::optional<PathMtu>> path_mtus;  ///< ascending; empty optional: not stated
  /// Message size [bytes] to one point index per path MTU; empty where there is no such point.
  std::map<std::uint64_t, std::vector<std::optional<std::size_t>>> rows;
};

/// Sorts `count` points, handed out by `point_at`, into tables, in order of first appearance.
[[nodiscard]] std::vector<SeriesLayout> lay_out(std::size_t count,
                                                const std::function<const Point&(std::size_t)>& point_at);

/// A table of the points that differ in path MTU and message size only: one row per message size, and for each path
/// MTU the value with its interval (stream, bidirectional) or p50 with its interval, p99 and maximum (ping-pong); UD
/// and UC show what was lost. A `*` marks the better MTU where its interval is clear of the others'.
class SeriesTable {
 public:
  /// `common`: what the points share; `path_mtus`: the columns, in order; empty where the source does not state it;
  /// `backend`: by name, as null and memset send nothing and must say so.
  SeriesTable(Point common, std::vector<std::optional<PathMtu>> path_mtus, Source source, std::string_view backend);

  /// "rc send stream, bandwidth in MB/s (10^6)", with MODEL, POSTED or "nothing is sent" in front where it
  /// applies.
  [[nodiscard]] std::string title() const;
  /// The columns without rows.
  [[nodiscard]] TextTable columns() const;
  /// One row; `outcomes` in the order of the path MTUs, null where the plan has no such point.
  [[nodiscard]] std::vector<Cell> row(std::uint64_t message_size_bytes,
                                      const std::vector<const Outcome*>& outcomes) const;

 private:
  [[nodiscard]] bool counts_loss() const noexcept;
  void add_cells(const Outcome* outcome, bool better, std::vector<Cell>& cells) const;

  Point common_;
  std::vector<std::optional<PathMtu>> path_mtus_;
  Source source_;
  std::string_view label_;
};

}  // namespace mtuscope::report
