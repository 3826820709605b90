#pragma once
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/records/result_set.hpp"

/// Records in a few words, for tests of analysis and report.
namespace mtuscope::testing_records {

struct Row {
  PathMtu mtu = PathMtu::mtu1024;
  std::uint64_t size_bytes = 0;
  double mb_per_s = 0;
  double half_width = 0;  ///< of the interval [MB/s]; 0: none
};

inline Point point_of(Connection connection, Pattern pattern, std::uint32_t header_bytes) {
  Point point;
  point.connection = connection;
  point.pattern = pattern;
  point.header_bytes = header_bytes;
  return point;
}

inline Measured measured(double mb_per_s, double half_width, bool exact) {
  Measured result;
  result.summary.exact = exact;
  result.summary.trial_count = exact ? 1 : 8;
  Estimate estimate{mb_per_s * 1e6, std::nullopt, std::nullopt};
  if (half_width > 0) {
    estimate.low = (mb_per_s - half_width) * 1e6;
    estimate.high = (mb_per_s + half_width) * 1e6;
  }
  result.summary.bandwidth_bytes_per_s = estimate;
  return result;
}

inline records::ResultSet record_of(Source source, const Point& common, const std::vector<Row>& rows) {
  records::ResultSet record;
  record.header.source = source;
  record.header.backend = source == Source::model ? "model:tavor" : "verbs";
  for (const auto& row : rows) {
    auto point = common;
    point.path_mtu = row.mtu;
    point.message_size_bytes = row.size_bytes;
    auto result = measured(row.mb_per_s, row.half_width, source == Source::model);
    if (source == Source::posted) result.summary.trial_count = 0;
    record.points.push_back({point, result});
  }
  return record;
}

/// The table of the 2006 mail, in the mail's order.
inline records::ResultSet tavor_table() {
  constexpr auto k2K = PathMtu::mtu2048;
  constexpr auto k1K = PathMtu::mtu1024;
  auto table = record_of(Source::posted, point_of(Connection::mpi, Pattern::stream, 50),
                         {{k2K, 512, 140.394173},
                          {k2K, 1024, 310.553002},
                          {k2K, 1500, 407.003858},
                          {k2K, 1800, 435.538752},
                          {k2K, 2048, 392.831026},
                          {k2K, 4096, 417.592991},
                          {k1K, 512, 140.261964},
                          {k1K, 1024, 300.789425},
                          {k1K, 1500, 379.746835},
                          {k1K, 1800, 416.726957},
                          {k1K, 2048, 425.227096},
                          {k1K, 4096, 501.442289}});
  table.header.provenance = records::Provenance{};
  table.header.provenance->id = "tavor-mpi-2006";
  return table;
}

}  // namespace mtuscope::testing_records
