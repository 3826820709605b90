#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "mtuscope/analysis/blocks.hpp"
#include "mtuscope/report/text_table.hpp"

namespace mtuscope::report {

/// What a run's block study is printed from.
struct BlockReport {
  analysis::BlockStudy study;
  Source source = Source::measured;
  std::string backend;
  double drop = 0;                    ///< the share that was asked for
  std::optional<bool> floors_flat{};  ///< both floors without a drop; empty: not both were measured
  std::optional<std::uint64_t> need_bytes{};
};

/// A row per curve with its edges [KiB of message size], hysteresis and capacity in pages; then the rule, capacity in
/// MiB or "no cliff up to N pages", whose the drop is, and what was needed. A model's report begins with that word.
[[nodiscard]] std::string blocks_text(const BlockReport& report, Color color);

}  // namespace mtuscope::report
