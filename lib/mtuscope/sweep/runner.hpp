#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/outcome.hpp"
#include "mtuscope/sweep/sink.hpp"
#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/backend.hpp"

namespace mtuscope::sweep {

/// What was measured before a run was killed: trials and finished outcomes per point index.
struct Resume {
  std::vector<std::vector<Trial>> trials;
  std::vector<std::optional<Outcome>> outcomes;  ///< Skipped points and points that had finished
  std::optional<Environment> responder;          ///< it was measured with
  std::vector<SessionRecord> sessions;           ///< which finished points name by index
};

/// A whole run. `points` and `outcomes` have the same length and order.
struct RunResult {
  std::vector<Point> points;
  std::vector<Outcome> outcomes;
  std::vector<SessionRecord> sessions;
  Environment initiator;
  std::optional<Environment> responder;
  bool interrupted = false;                   ///< stopped by the user; points without enough trials say so
  std::optional<std::string> lost_reason;     ///< why the run ended without its peer
  std::optional<std::string> gave_up_reason;  ///< why a part of the plan was given up
};

/// What a run needs besides its spec.
struct RunContext {
  Backend& backend;
  Exchange* exchange = nullptr;  ///< null for back ends without a peer
  Sink& sink;
  const std::atomic<bool>& stop;  ///< set by the front end's signal handler
  Resume resume;
  Environment environment;  ///< of this end, complete
};

/// Measures every point of `spec` by its stop rule: arrangements, rounds, interleaved trials. One failed point does not
/// end the run. Throws ConfigError (spec, a responder that refuses it or is not the one the resumed run had) and
/// RunError (nothing could be opened at all).
[[nodiscard]] RunResult run_sweep(const SweepSpec& spec, RunContext context);

/// The other end: obeys one initiator until it says goodbye (true) or is gone (false; the reason goes to the log).
/// Throws nothing that one client can cause.
bool respond(Backend& backend, Exchange& exchange, const Environment& environment, const std::atomic<bool>& stop);

/// The summary of a point's trials (median, interval, variances, percentiles as far as their number allows).
[[nodiscard]] Summary summarise(const Point& point, const std::vector<Trial>& trials, bool deterministic);

}  // namespace mtuscope::sweep
