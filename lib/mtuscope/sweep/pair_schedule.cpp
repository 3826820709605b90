#include "mtuscope/sweep/pair_schedule.hpp"

#include <algorithm>
#include <charconv>
#include <set>
#include <sstream>
#include <utility>

#include "mtuscope/core/error.hpp"

namespace mtuscope::sweep {
namespace {

/// The names of ranks are those of their hosts, or "host:rank".
std::uint32_t find_rank(const std::string& word, const std::vector<std::string>& names) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found != names.end()) return static_cast<std::uint32_t>(found - names.begin());
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  if (error == std::errc{} && end == word.data() + word.size() && number < names.size()) return number;
  throw ConfigError("there is no rank \"" + word + "\": the ranks are 0 to " + std::to_string(names.size() - 1) +
                    ", or " + names.front() + " to " + names.back());
}

}  // namespace

PairSchedule PairSchedule::all(std::uint32_t rank_count) {
  PairSchedule schedule;
  schedule.rank_count_ = rank_count;
  return schedule;
}

PairSchedule PairSchedule::ring(std::uint32_t rank_count) {
  std::vector<RankPair> pairs;
  for (std::uint32_t rank = 0; rank + 1 < rank_count; ++rank) pairs.push_back({rank, rank + 1});
  if (rank_count > 2) pairs.push_back({rank_count - 1, 0});
  return list(pairs);
}

PairSchedule PairSchedule::halves(std::uint32_t rank_count) {
  std::vector<RankPair> pairs;
  const auto half = rank_count / 2;
  for (std::uint32_t rank = 0; rank < half; ++rank) pairs.push_back({rank, rank + half});
  return list(pairs);
}

PairSchedule PairSchedule::list(const std::vector<RankPair>& pairs) {
  PairSchedule schedule;
  std::vector<std::set<std::uint32_t>> taken;
  for (const auto& pair : pairs) {
    std::size_t round = 0;
    while (round < taken.size() && (taken[round].contains(pair.initiator) || taken[round].contains(pair.responder))) {
      ++round;
    }
    if (round == taken.size()) {
      taken.emplace_back();
      schedule.rounds_.emplace_back();
    }
    taken[round].insert({pair.initiator, pair.responder});
    schedule.rounds_[round].push_back(pair);
  }
  return schedule;
}

std::uint32_t PairSchedule::rounds_one_way() const noexcept {
  if (rank_count_ == 0) return static_cast<std::uint32_t>(rounds_.size());
  return rank_count_ + rank_count_ % 2 - 1;
}

std::uint32_t PairSchedule::round_count() const noexcept { return rounds_one_way() * (both_directions_ ? 2U : 1U); }

std::vector<RankPair> PairSchedule::round_of_all(std::uint32_t round) const {
  const auto modulus = rounds_one_way();
  std::vector<RankPair> pairs;
  for (std::uint32_t rank = 0; rank < modulus; ++rank) {
    const auto partner = (modulus + round - rank) % modulus;
    if (rank < partner) pairs.push_back({rank, partner});
    // Who would meet itself meets the rank that stands in the middle of the circle, if there is one.
    if (rank == partner && modulus < rank_count_) pairs.push_back({rank, modulus});
  }
  return pairs;
}

std::vector<RankPair> PairSchedule::round(std::uint32_t round) const {
  const bool reverse = both_directions_ && round % 2 == 1;
  if (both_directions_) round /= 2;
  auto pairs = rank_count_ == 0 ? rounds_[round] : round_of_all(round);
  if (reverse) {
    for (auto& pair : pairs) std::swap(pair.initiator, pair.responder);
  }
  return pairs;
}

std::uint64_t PairSchedule::pair_count() const noexcept {
  std::uint64_t pairs = std::uint64_t{rank_count_} * (rank_count_ > 0 ? rank_count_ - 1 : 0) / 2;
  for (const auto& round : rounds_) pairs += round.size();
  return pairs * (both_directions_ ? 2U : 1U);
}

std::vector<RankPair> parse_pairs(std::string_view text, const std::vector<std::string>& rank_names) {
  std::vector<RankPair> pairs;
  std::set<RankPair> seen;
  std::istringstream lines{std::string{text}};
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::istringstream words{line.substr(0, line.find('#'))};
    std::string first;
    std::string second;
    std::string more;
    if (!(words >> first)) continue;
    try {
      if (!(words >> second) || words >> more) throw ConfigError("expected two ranks");
      const RankPair pair{find_rank(first, rank_names), find_rank(second, rank_names)};
      if (pair.initiator == pair.responder) throw ConfigError("a rank does not measure with itself");
      if (!seen.insert(pair).second) throw ConfigError("the pair is there twice");
      pairs.push_back(pair);
    } catch (const ConfigError& error) {
      throw ConfigError("line " + std::to_string(number) + ": " + error.what());
    }
  }
  if (pairs.empty()) throw ConfigError("there is no pair in it: write two ranks on each line");
  return pairs;
}

}  // namespace mtuscope::sweep
