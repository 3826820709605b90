#pragma once
#include <cstddef>
#include <cstdint>
#include <span>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/mtu_proof.hpp"
#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/point.hpp"

namespace mtuscope::sweep {

/// One session of one arrangement, as it was proved. Operations and patterns share it: the proof burst only sends.
struct SessionRecord {
  std::uint32_t arrangement = 0;
  Connection connection = Connection::rc;
  MtuProof proof;
};

/// How far a run is.
struct Progress {
  std::size_t points_done = 0;
  std::size_t point_count = 0;
  std::uint64_t trials_done = 0;
  std::uint64_t trials_before = 0;    ///< of those done, by the run that this one resumes
  std::uint64_t trials_expected = 0;  ///< at least this many
  std::uint64_t elapsed_ns = 0;
};

/// Where a run's events go as they happen: journal, progress line, growing table. Called from one thread.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  /// The other end, before anything is measured with it; not called for back ends without one.
  virtual void on_responder(const Environment& responder) = 0;
  virtual void on_session(const SessionRecord& session) = 0;
  virtual void on_trial(std::size_t point_index, const Trial& trial) = 0;
  virtual void on_outcome(std::size_t point_index, const Outcome& outcome) = 0;
  virtual void on_progress(const Progress& progress) = 0;
};

}  // namespace mtuscope::sweep
