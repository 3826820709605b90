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
#include "mtuscope/records/header_json.hpp"
#include "mtuscope/records/record_file.hpp"
#include "mtuscope/report/pair_matrix_text.hpp"
#include "mtuscope/report/series_table.hpp"
#include "mtuscope/report/units.hpp"
#include "mtuscope/sweep/planner.hpp"
#include "rank_end.hpp"
#include "run_record.hpp"
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

/// Every rank with its host and device.
std::vector<std::string> ends_of(const records::RecordHeader& header) {
  std::vector<std::string> ends;
  for (const auto& rank : header.ranks) ends.push_back(rank.name + " " + mtuscope::name_of(rank.environment));
  return ends;
}

/// Numbers of two plans, or of other ends, must not become one record.
void check_same_run(const records::RecordHeader& before, const records::RecordHeader& now, const std::string& path) {
  std::string difference;
  if (!before.spec || sweep::plan_hash(*before.spec) != sweep::plan_hash(*now.spec)) {
    difference = before.spec ? records::plan_differences(*before.spec, *now.spec) : "it has no plan";
  } else if (before.pairs != now.pairs) {
    difference = "other pairs";
  } else if (before.backend != now.backend || ends_of(before) != ends_of(now)) {
    difference = "another back end, or other ranks, hosts or devices";
  }
  if (difference.empty()) return;
  throw ConfigError{"--resume: " + path + " belongs to another run (" + difference +
                    "): repeat the options of the ended run on the same hosts, or delete the journal"};
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
    check_same_run(before.header, header_, path);
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
    auto plan = header_;
    plan.ranks.clear();  // which only rank 0 must hold
    tell_all({.kind = PairOrder::Kind::plan, .plan = records::pair_journal_header(plan)});
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
  Round round{.deadline = Deadline::after_ns(options_.round_timeout_ns)};
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
  while (!round.open.empty()) {
    const bool in_grace = round.grace && round.open.size() == round.forsaken.size();
    auto letter = star_.receive(in_grace ? *round.grace : round.deadline);
    if (!letter) break;
    take(round, static_cast<std::uint32_t>(letter->rank), decode_report(letter->bytes));
  }
  for (const auto& pair : round.open) {
    const auto found = round.forsaken.find(pair);
    lose(pair, found != round.forsaken.end()
                   ? found->second
                   : fmt::format("no report within {:g} s (--round-timeout)", seconds(options_.round_timeout_ns)));
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
  losses_.push_back(fmt::format("the pair {} -> {} was lost: {}", header_.ranks[pair.initiator].name,
                                header_.ranks[pair.responder].name, reason));
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
  const auto judge = show(index);
  write_file_or_say_where(options_, [&](std::ostream& out) { records::write_pair_record(out, path, index, complete); });
  context_.console.say("record: " + options_.out + "\n");
  if (complete) {
    journal_->discard();
  } else {
    context_.console.say("journal: " + path + ": go on with the same options and --resume\n");
  }
  if (complete) return judge.judge(std::nullopt);
  return judge.judge(fmt::format("ended early: {} of {} pairs were measured", done_.size(), done_.size() + missing));
}

RunJudge PairConductor::show(const records::PairJournalIndex& index) const {
  analysis::PairMatrices matrices;
  RunJudge judge;
  records::visit_pair_journal(journal_->path(), index, [&](records::PairResult&& result) {
    judge.add(result.sessions, result.points);
    records::ResultSet pair;
    pair.sessions = std::move(result.sessions);
    for (const auto& point : result.points) matrices.add(pair, point);
  });
  context_.console.say("\n" + report::pair_matrix_text(matrices.finish(), context_.console.color()) + "\n");
  return judge;
}

}  // namespace mtuscope::cli
