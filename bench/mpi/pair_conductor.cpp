#include "pair_conductor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <iostream>
#include <sstream>
#include <utility>

#include "backends.hpp"
#include "mtuscope/analysis/pair_matrix.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/records/record_file.hpp"
#include "mtuscope/report/pair_matrix_text.hpp"
#include "mtuscope/report/series_table.hpp"
#include "mtuscope/report/units.hpp"
#include "mtuscope/sweep/planner.hpp"
#include "rank_end.hpp"
#include "record_header.hpp"
#include "sweep_plan.hpp"

namespace mtuscope::cli {
namespace {

constexpr std::string_view kListPrefix = "list:";
constexpr std::uint64_t kEndPatienceNs = 1'000'000'000;
constexpr std::uint64_t kMaxListBytes = 64U << 20U;

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string read_list(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw ConfigError{"--pairs: cannot read " + path + ": " + error_text(errno)};
  std::string text;
  for (char c = 0; in.get(c);) {
    text.push_back(c);
    if (text.size() > kMaxListBytes) throw ConfigError{"--pairs: " + path + " is longer than a list of pairs may be"};
  }
  return text;
}

}  // namespace

PairConductor::PairConductor(const mpi::Star& star, std::uint32_t rank_count, const SweepOptions& options,
                             const CommandContext& context)
    : star_(star),
      rank_count_(rank_count),
      options_(options),
      context_(context),
      begin_ns_(MonotonicClock{}.now_ns()),
      player_(options, 0, context.stop) {
  try {
    meet();
  } catch (const std::exception&) {
    tell_all({.kind = PairOrder::Kind::end});
    throw;
  }
}

PairConductor::~PairConductor() { tell_all({.kind = PairOrder::Kind::end}); }

void PairConductor::tell(std::uint32_t rank, const PairOrder& order) const {
  const bool is_end = order.kind == PairOrder::Kind::end;
  const auto patience_ns = is_end ? kEndPatienceNs : options_.spec.timeout_ns;
  star_.send(static_cast<int>(rank), encode(order), Deadline::after_ns(patience_ns));
}

/// The end is told to every rank, whether it listens or not.
void PairConductor::tell_all(const PairOrder& order) const {
  for (std::uint32_t rank = 1; rank < rank_count_; ++rank) {
    try {
      tell(rank, order);
    } catch (const std::exception& error) {
      if (order.kind != PairOrder::Kind::end) throw;
      log(LogLevel::debug, error.what());
    }
  }
}

void PairConductor::meet() {
  std::vector<RankHello> hellos(rank_count_);
  std::set<std::uint32_t> missing;
  for (std::uint32_t rank = 1; rank < rank_count_; ++rank) missing.insert(rank);
  hellos[0] = player_.hello();
  const auto deadline = Deadline::after_ns(options_.spec.timeout_ns);
  while (!missing.empty()) {
    const auto letter = star_.receive(deadline);
    if (!letter) throw RunError{fmt::format("rank {} did not report for the run in time", *missing.begin())};
    const auto rank = static_cast<std::uint32_t>(letter->rank);
    hellos.at(rank) = decode_hello(letter->bytes);
    missing.erase(rank);
  }
  for (std::uint32_t rank = 0; rank < rank_count_; ++rank) {
    const auto& [build, problem, environment] = hellos[rank];
    const auto who = fmt::format("rank {} on {}", rank, environment.host.hostname);
    if (build != hellos[0].build) {
      throw ConfigError{fmt::format("{} runs mtuscope-mpi {}, rank 0 {}: install the same build on all hosts", who,
                                    build, hellos[0].build)};
    }
    if (!problem.empty()) throw ConfigError{fmt::format("{}: {}", who, problem)};
  }
  name_ranks(hellos);
}

void PairConductor::name_ranks(const std::vector<RankHello>& hellos) {
  std::map<std::string, std::uint32_t> ranks_of_host;
  for (const auto& hello : hellos) ++ranks_of_host[hello.environment.host.hostname];
  for (std::uint32_t rank = 0; rank < rank_count_; ++rank) {
    const auto& host = hellos[rank].environment.host.hostname;
    header_.ranks.push_back(
        {ranks_of_host[host] == 1 ? host : fmt::format("{}:{}", host, rank), hellos[rank].environment});
  }
  if (ranks_of_host.size() == rank_count_) return;
  log(LogLevel::warning,
      fmt::format("{} ranks on {}: ranks of one host share its CPUs, memory and ports, and measure memory with each "
                  "other; start one rank per host to measure the fabric",
                  rank_count_, report::counted(ranks_of_host.size(), "host")));
}

std::string PairConductor::name_of(std::uint32_t rank) const { return header_.ranks[rank].name; }

std::string PairConductor::name_of(const sweep::RankPair& pair) const {
  return name_of(pair.initiator) + " -> " + name_of(pair.responder);
}

sweep::PairSchedule PairConductor::make_schedule() const {
  const auto& word = options_.pairs;
  auto schedule = [&] {
    if (word == "all") return sweep::PairSchedule::all(rank_count_);
    if (word == "ring") return sweep::PairSchedule::ring(rank_count_);
    if (word == "halves") return sweep::PairSchedule::halves(rank_count_);
    const auto path = word.substr(kListPrefix.size());
    std::vector<std::string> names;
    for (const auto& rank : header_.ranks) names.push_back(rank.name);
    try {
      return sweep::PairSchedule::list(sweep::parse_pairs(read_list(path), names));
    } catch (const ConfigError& error) {
      throw ConfigError{"--pairs: " + path + ": " + error.what()};
    }
  }();
  if (options_.both_directions) schedule.add_reverse();
  return schedule;
}

void PairConductor::start_journal(const sweep::SweepSpec& spec) {
  auto ranks = std::move(header_.ranks);
  header_ = make_header(*backend_, spec, ranks.front().environment, context_);
  header_.ranks = std::move(ranks);
  header_.pairs = records::PairPlan{options_.pairs, options_.both_directions, options_.pairs_at_once};
  records::check_writable(options_.out);
  const auto path = records::journal_path(options_.out);
  if (options_.resume) {
    const auto before = records::index_pair_journal(path);
    const auto names = [](const records::RecordHeader& header) {
      std::vector<std::string> all;
      for (const auto& rank : header.ranks) all.push_back(rank.name);
      return all;
    };
    const bool same_plan = before.header.spec && sweep::plan_hash(*before.header.spec) == sweep::plan_hash(spec);
    if (!same_plan || before.header.pairs != header_.pairs || before.header.backend != header_.backend ||
        names(before.header) != names(header_)) {
      throw ConfigError{"--resume: " + path +
                        " belongs to a run with other options, ranks or hosts: repeat those of "
                        "the ended run, or delete the journal"};
    }
    for (const auto& entry : before.entries) done_.insert(entry.ranks);
    header_ = before.header;
  }
  journal_ = std::make_unique<records::JournalFile>(
      path, options_.resume ? records::JournalFile::Mode::resume : records::JournalFile::Mode::start,
      records::pair_journal_header(header_));
}

void PairConductor::introduce(const sweep::PairSchedule& schedule, const sweep::SweepSpec& spec) const {
  context_.console.say(fmt::format(
      "{}{}: {} ranks, {} in {}, {} each, at least {} over {}, seed {}; {} at the same time\n",
      report::label_of(backend_->source(), backend_->name()), backend_->name(), rank_count_,
      report::counted(schedule.pair_count(), "pair"), report::counted(schedule.round_count(), "round"),
      report::counted(sweep::plan_points(spec).size(), "point"), report::counted(spec.stop.min_trials, "trial"),
      report::counted(spec.stop.arrangements, "arrangement"), spec.seed,
      options_.pairs_at_once ? report::counted(*options_.pairs_at_once, "pair") : std::string{"all pairs of a round"}));
}

ExitCode PairConductor::run() {
  if (options_.out.empty() || options_.out == "-" || records::is_special_file(options_.out)) {
    throw ConfigError{"--pairs: needs --out FILE, beside which the pairs are kept round by round"};
  }
  check_output(options_);
  backend_ = make_rank_backend(options_, options_.device, {});
  const auto spec = complete_plan(options_, *backend_);
  const auto schedule = make_schedule();
  start_journal(spec);
  player_.take_plan(spec);
  introduce(schedule, spec);
  try {
    tell_all({.kind = PairOrder::Kind::plan, .plan = records::pair_journal_header(header_)});
    run_rounds(schedule);
  } catch (const RunError& error) {  // what was measured is kept
    losses_.emplace_back(error.what());
  }
  return finish(schedule);
}

std::uint64_t PairConductor::missing_count(const sweep::PairSchedule& schedule) const {
  std::uint64_t missing = 0;
  for (std::uint32_t number = 0; number < schedule.round_count(); ++number) {
    for (const auto& pair : schedule.round(number)) missing += done_.contains(pair) ? 0 : 1;
  }
  return missing;
}

bool PairConductor::may_go_on() const {
  const auto max_time_ns = options_.spec.stop.max_time_ns;
  const bool out_of_time = max_time_ns != 0 && MonotonicClock{}.now_ns() - begin_ns_ >= max_time_ns;
  return !context_.stop && !interrupted_ && !out_of_time && losses_.empty();
}

void PairConductor::run_rounds(const sweep::PairSchedule& schedule) {
  for (std::uint32_t number = 0; number < schedule.round_count(); ++number) {
    auto pairs = schedule.round(number);
    std::erase_if(pairs, [this](const auto& pair) { return done_.contains(pair); });
    const std::size_t at_once = options_.pairs_at_once.value_or(rank_count_);
    for (std::size_t first = 0; first < pairs.size() && may_go_on(); first += at_once) {
      const auto count = std::min(at_once, pairs.size() - first);
      run_round(number, schedule.round_count(), std::span{pairs}.subspan(first, count));
    }
  }
}

void PairConductor::run_round(std::uint32_t number, std::uint32_t count, std::span<const sweep::RankPair> pairs) {
  const auto begin_ns = MonotonicClock{}.now_ns();
  Round round;
  round.open.insert(pairs.begin(), pairs.end());
  std::optional<PairOrder> mine;
  for (const auto& pair : pairs) {
    const PairOrder order{.kind = PairOrder::Kind::pair, .round = number, .pair = pair};
    for (const auto rank : {pair.initiator, pair.responder}) {
      if (rank == 0) {
        mine = order;
      } else {
        tell(rank, order);
      }
    }
  }
  if (mine) {
    if (auto report = player_.play(*mine)) take(round, 0, std::move(*report));
  }
  collect(round);
  const auto elapsed_ns = MonotonicClock{}.now_ns() - begin_ns;
  context_.console.say(fmt::format("round {} of {}: {}, {:.3f} s, of which the slowest pair took {:.3f} s\n",
                                   number + 1, count, report::counted(pairs.size(), "pair"), seconds(elapsed_ns),
                                   seconds(round.longest_ns)));
}

void PairConductor::collect(Round& round) {
  const auto deadline = Deadline::after_ns(options_.round_timeout_ns);
  while (!round.open.empty()) {
    const bool in_grace = round.grace && round.open.size() == round.forsaken.size();
    auto letter = star_.receive(in_grace ? *round.grace : deadline);
    if (!letter) break;
    take(round, static_cast<std::uint32_t>(letter->rank), decode_report(letter->bytes));
  }
  for (const auto& pair : round.open) {
    const auto found = round.forsaken.find(pair);
    lose(pair, found != round.forsaken.end()
                   ? found->second
                   : fmt::format("no report within {:.0f} s (--round-timeout)", seconds(options_.round_timeout_ns)));
  }
}

void PairConductor::take(Round& round, std::uint32_t rank, PairReport report) {
  if (!round.open.contains(report.pair)) return;
  round.longest_ns = std::max(round.longest_ns, report.elapsed_ns);
  if (report.kind == PairReport::Kind::lost && rank == report.pair.responder) {
    round.forsaken.emplace(report.pair, std::move(report.text));
    round.grace = Deadline::after_ns(options_.spec.timeout_ns);
    return;
  }
  round.open.erase(report.pair);
  round.forsaken.erase(report.pair);
  if (report.kind == PairReport::Kind::lost) return lose(report.pair, report.text);
  if (report.kind == PairReport::Kind::interrupted) {
    interrupted_ = true;
    return;
  }
  journal_->append(report.text);
  done_.insert(report.pair);
}

void PairConductor::lose(const sweep::RankPair& pair, const std::string& reason) {
  losses_.push_back(fmt::format("the pair {} was lost: {}", name_of(pair), reason));
}

ExitCode PairConductor::finish(const sweep::PairSchedule& schedule) {
  const auto path = journal_->path();
  for (const auto& loss : losses_) Console::complain(loss);
  if (done_.empty()) {
    journal_->discard();
    throw RunError{"no pair was measured, and nothing was written"};
  }
  const auto index = records::index_pair_journal(path);
  const auto missing = missing_count(schedule);
  const bool complete = missing == 0;
  const auto code = show_and_judge(index, missing);
  const auto write = [&](std::ostream& out) { records::write_pair_record(out, path, index, complete); };
  try {
    records::write_record_file(options_.out, write);
  } catch (const RunError& error) {
    throw RunError{std::string{error.what()} + "; every pair is in " + path +
                   ": the same options and --resume write the record from it"};
  }
  context_.console.say("record: " + options_.out + "\n");
  if (complete) {
    journal_->discard();
  } else {
    context_.console.say("journal: " + path + ": go on with the same options and --resume\n");
  }
  return code;
}

ExitCode PairConductor::show_and_judge(const records::PairJournalIndex& index, std::uint64_t missing) const {
  analysis::PairMatrices matrices;
  std::size_t failed = 0;
  std::size_t measured = 0;
  std::string first_failure;
  std::optional<std::string> contradiction;
  records::visit_pair_journal(journal_->path(), index, [&](records::PairResult&& result) {
    records::ResultSet pair;
    pair.header.source = index.header.source;
    pair.sessions = std::move(result.sessions);
    for (const auto& session : pair.sessions) {
      if (contradiction || session.proof.verdict != ProofVerdict::contradicted) continue;
      contradiction = fmt::format("{}: the path MTU {} is contradicted: {}", name_of(result.ranks),
                                  to_bytes(session.proof.asked), session.proof.reason);
    }
    for (const auto& point : result.points) {
      matrices.add(pair, point);
      if (std::holds_alternative<Measured>(point.outcome)) ++measured;
      const auto* failure = std::get_if<Failed>(&point.outcome);
      if (failure != nullptr && failed++ == 0) first_failure = name_of(result.ranks) + ": " + failure->reason;
    }
  });
  context_.console.say("\n" + report::pair_matrix_text(matrices.finish(), context_.console.color()) + "\n");
  auto code = ExitCode::ok;
  const auto complain = [&code](const std::string& what) {
    Console::complain(what);
    code = ExitCode::run_failed;
  };
  if (missing > 0) {
    complain(fmt::format("the run ended early: {} of {} pairs were measured", done_.size(), done_.size() + missing));
  }
  if (failed > 0) complain(fmt::format("{} points failed: the first was {}", failed, first_failure));
  if (measured == 0 && failed == 0) complain("no point could be measured: see the reasons above");
  if (contradiction) complain(*contradiction);
  return code;
}

}  // namespace mtuscope::cli
