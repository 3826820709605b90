#include "mtuscope/records/consistency.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string>

#include "mtuscope/records/json_tree.hpp"
#include "mtuscope/records/point_fields.hpp"
#include "mtuscope/sweep/runner.hpp"

namespace mtuscope::records {
namespace {

// Another compiler may round a sum differently; a value copied wrongly, or of other trials, is further away.
constexpr double kRoundOff = 1e-9;

/// Every number a summary states, by its path below the summary; what is absent has no entry.
class StatedNumbers {
 public:
  template <class T>
  void operator()(std::string_view name, const T& value) {
    const auto length = path_.size();
    path_.append("/").append(name);
    add(value);
    path_.resize(length);
  }
  template <class T>
  void always(std::string_view name, const T& value) {
    (*this)(name, value);
  }
  std::map<std::string, double> numbers;

 private:
  template <class T>
  void add(const T& value) {
    if constexpr (requires { value.has_value(); }) {
      if (value) add(*value);
    } else if constexpr (std::is_arithmetic_v<T>) {
      numbers.emplace(path_, static_cast<double>(value));
    } else {
      visit_fields(*this, value);
    }
  }
  std::string path_;
};

std::map<std::string, double> numbers_of(const Summary& summary) {
  StatedNumbers archive;
  visit_fields(archive, summary);
  return std::move(archive.numbers);
}

std::string text_of(double value) {
  std::ostringstream text;
  text.precision(std::numeric_limits<double>::max_digits10);
  text << value;
  return text.str();
}

bool agree(double stated, double computed) noexcept {
  return std::abs(stated - computed) <= kRoundOff * std::max(std::abs(stated), std::abs(computed));
}

/// One point of a file, to complain about.
struct Place {
  std::string_view file_name;
  std::string path;
  [[noreturn]] void fail(const std::string& below, const std::string& fault) const {
    throw SchemaError(file_name, path + below, fault);
  }
};

void check_trials(const Place& place, const std::vector<Trial>& trials) {
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i].messages > 0 && trials[i].elapsed_ns > 0) continue;
    place.fail("/trials/" + std::to_string(i), "a trial of no messages or no time is no trial");
  }
}

void check_summary(const Place& place, const Point& point, const Measured& measured) {
  auto trials = measured.trials;
  trials.front().latency = measured.latency;  // the merged histogram is all that a record keeps of them
  const auto computed = numbers_of(sweep::summarise(point, trials, measured.summary.exact));
  for (const auto& [path, stated] : numbers_of(measured.summary)) {
    const auto found = computed.find(path);
    if (found == computed.end()) place.fail("/summary" + path, "does not follow from this point's trials");
    if (agree(stated, found->second)) continue;
    place.fail("/summary" + path, "is " + text_of(stated) + ", but this point's trials give " + text_of(found->second));
  }
}

void check_session(const Place& place, const ResultSet& header, const Point& point, std::uint32_t index) {
  const auto& session = header.sessions.at(index);
  if (session.connection == point.connection && session.proof.asked == point.path_mtu) return;
  place.fail("/session", "session " + std::to_string(index) + " had another connection or path MTU than this point");
}

}  // namespace

void check_consistency(std::string_view file_name, const ResultSet& header, std::size_t index,
                       const PointResult& result) {
  const Place place{file_name, "/points/" + std::to_string(index)};
  if (const auto* failed = std::get_if<Failed>(&result.outcome)) check_trials(place, failed->trials);
  const auto* measured = std::get_if<Measured>(&result.outcome);
  if (measured == nullptr) return;
  check_trials(place, measured->trials);
  if (measured->session) check_session(place, header, result.point, *measured->session);
  const auto& summary = measured->summary;
  if (summary.exact && header.header.source != Source::model) place.fail("/summary/exact", "only a model is exact");
  if (!measured->trials.empty()) return check_summary(place, result.point, *measured);
  if (summary.trial_count == 0) return;
  place.fail("/summary/trial_count", "is " + std::to_string(summary.trial_count) + ", but there are no trials");
}

}  // namespace mtuscope::records
