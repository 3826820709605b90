#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <sstream>

#include "mtuscope/records/json.hpp"
#include "property.hpp"

namespace mtuscope::records {
namespace {

template <class T>
rc::Gen<std::optional<T>> maybe(rc::Gen<T> some) {
  return rc::gen::oneOf(rc::gen::just(std::optional<T>{}),
                        rc::gen::map(std::move(some), [](T value) { return std::optional<T>(std::move(value)); }));
}

template <class T>
std::optional<T> any_maybe() {
  return *maybe(rc::gen::arbitrary<T>());
}

/// Finite doubles of every size: random bits.
std::optional<double> any_double() {
  const auto bits = *rc::gen::arbitrary<std::uint64_t>();
  const auto value = std::bit_cast<double>(bits);
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

/// Text of ASCII (control characters too) and a few longer UTF-8 sequences.
std::string any_text() {
  std::string text;
  for (const auto code : *rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 132))) {
    text += code < 128 ? std::string(1, static_cast<char>(code)) : std::string("\xf0\x9f\x98\x80");
  }
  return text;
}

template <class Enum>
Enum any_enum(std::initializer_list<Enum> values) {
  return *rc::gen::elementOf(std::vector<Enum>(values));
}

Point any_point() {
  Point point;
  point.connection = any_enum({Connection::rc, Connection::uc, Connection::ud, Connection::mpi, Connection::none});
  point.operation = any_enum({Operation::send, Operation::write, Operation::read});
  point.pattern = Pattern::ping_pong;  // its bandwidth is not checked against the trials
  point.path_mtu = *maybe(rc::gen::element(PathMtu::mtu256, PathMtu::mtu2048));
  point.message_size_bytes = *rc::gen::inRange<std::uint64_t>(1, std::uint64_t{1} << 40U);
  point.header_bytes = *rc::gen::arbitrary<std::uint32_t>();
  point.tx_depth = any_maybe<std::uint32_t>();
  point.rx_depth = any_maybe<std::uint32_t>();
  point.post_list = any_maybe<std::uint32_t>();
  point.cq_mod = any_maybe<std::uint32_t>();
  point.inline_bytes = any_maybe<std::uint32_t>();
  point.qp_count = any_maybe<std::uint32_t>();
  point.wait_mode = *maybe(rc::gen::element(WaitMode::spin, WaitMode::event));
  point.connect_method = *maybe(rc::gen::element(ConnectMethod::tcp, ConnectMethod::cm));
  point.segmented = *rc::gen::arbitrary<bool>();
  point.pass = any_enum({Pass::none, Pass::up, Pass::down});
  if (*rc::gen::arbitrary<bool>()) point.pair = Pair{any_text(), any_text()};
  if (*rc::gen::arbitrary<bool>()) {
    point.working_set = WorkingSet{.block_count = *rc::gen::arbitrary<std::uint64_t>(),
                                   .block_size_bytes = *rc::gen::arbitrary<std::uint64_t>(),
                                   .mr_mode = any_enum({MrMode::one, MrMode::per_block}),
                                   .order = any_enum({ReuseOrder::lifo, ReuseOrder::random}),
                                   .side = any_enum({BufferSide::source, BufferSide::both})};
  }
  return point;
}

Trial any_trial() {
  Trial trial;
  trial.arrangement = *rc::gen::arbitrary<std::uint32_t>();
  trial.round = *rc::gen::arbitrary<std::uint32_t>();
  trial.order = *rc::gen::arbitrary<std::uint64_t>();
  trial.messages = *rc::gen::arbitrary<std::uint64_t>();
  trial.elapsed_ns = *rc::gen::arbitrary<std::uint64_t>();
  trial.sent_messages = any_maybe<std::uint64_t>();
  trial.received_messages = any_maybe<std::uint64_t>();
  trial.min_slice_bytes_per_s = any_double();
  trial.sender_elapsed_ns = any_maybe<std::uint64_t>();
  return trial;
}

std::vector<Trial> any_trials() {
  std::vector<Trial> trials(*rc::gen::inRange<std::size_t>(0, 4));
  for (auto& trial : trials) trial = any_trial();
  return trials;
}

std::optional<Estimate> any_estimate() {
  const auto value = any_double();
  if (!value) return std::nullopt;
  return Estimate{*value, any_double(), any_double()};
}

Measured any_measured(std::size_t session_count) {
  Measured measured;
  measured.trials = any_trials();
  auto& summary = measured.summary;
  summary.trial_count = static_cast<std::uint32_t>(measured.trials.size());
  summary.arrangement_count = *rc::gen::arbitrary<std::uint32_t>();
  summary.bandwidth_bytes_per_s = any_estimate();
  summary.message_rate_per_s = any_estimate();
  summary.latency_ns = any_estimate();
  if (*rc::gen::arbitrary<bool>()) {
    summary.latency = LatencySummary{any_double(),
                                     any_double(),
                                     any_double(),
                                     any_double(),
                                     any_double(),
                                     any_double(),
                                     *rc::gen::arbitrary<std::uint64_t>()};
  }
  summary.min_slice_bytes_per_s = any_double();
  summary.within_variation = any_double();
  summary.between_variation = any_double();
  summary.loss_fraction = any_double();
  summary.exact = *rc::gen::arbitrary<bool>();
  measured.warmup_messages = *rc::gen::arbitrary<std::uint64_t>();
  measured.note = any_text();
  if (session_count != 0) measured.session = *maybe(rc::gen::inRange(0U, static_cast<std::uint32_t>(session_count)));
  if (*rc::gen::arbitrary<bool>()) {
    auto histogram = std::make_shared<LatencyHistogram>();
    for (const auto value : *rc::gen::nonEmpty<std::vector<std::uint64_t>>()) histogram->record(value);
    measured.latency = histogram;
  }
  return measured;
}

ResultSet any_record() {
  ResultSet record;
  record.header.source = any_enum({Source::measured, Source::model, Source::posted, Source::imported});
  record.header.backend = any_text();
  record.header.command_line = {any_text(), ""};
  record.header.provenance = Provenance{any_text(), any_text(), any_text(), {any_text()}, {}, any_text()};
  record.header.spec.emplace().seed = *rc::gen::arbitrary<std::uint64_t>();
  record.header.spec->messages = any_maybe<std::uint64_t>();
  record.complete = *rc::gen::arbitrary<bool>();
  record.sessions.resize(*rc::gen::inRange<std::size_t>(0, 3));
  const auto count = *rc::gen::inRange(0, 4);
  for (int i = 0; i < count; ++i) {
    auto& result = record.points.emplace_back();
    result.point = any_point();
    switch (*rc::gen::inRange(0, 3)) {
      case 0:
        result.outcome = any_measured(record.sessions.size());
        break;
      case 1:
        result.outcome = Skipped{any_text()};
        break;
      default:
        result.outcome = Failed{any_text(), any_trials()};
    }
  }
  return record;
}

void expect_same(const std::optional<Estimate>& a, const std::optional<Estimate>& b) {
  RC_ASSERT(a.has_value() == b.has_value());
  if (!a) return;
  RC_ASSERT(a->value == b->value);
  RC_ASSERT(a->low == b->low);
  RC_ASSERT(a->high == b->high);
}

void expect_same(const std::vector<Trial>& a, const std::vector<Trial>& b) {
  RC_ASSERT(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto members = [](const Trial& t) {
      return std::tie(t.arrangement, t.round, t.order, t.messages, t.elapsed_ns, t.sent_messages, t.received_messages,
                      t.min_slice_bytes_per_s, t.sender_elapsed_ns);
    };
    RC_ASSERT(members(a[i]) == members(b[i]));
  }
}

void expect_same(const Measured& a, const Measured& b) {
  const auto members = [](const Measured& m) {
    const auto& s = m.summary;
    return std::tie(m.warmup_messages, m.session, m.note, s.trial_count, s.arrangement_count, s.min_slice_bytes_per_s,
                    s.within_variation, s.between_variation, s.loss_fraction, s.exact);
  };
  RC_ASSERT(members(a) == members(b));
  expect_same(a.trials, b.trials);
  expect_same(a.summary.bandwidth_bytes_per_s, b.summary.bandwidth_bytes_per_s);
  expect_same(a.summary.message_rate_per_s, b.summary.message_rate_per_s);
  expect_same(a.summary.latency_ns, b.summary.latency_ns);
  RC_ASSERT(a.summary.latency.has_value() == b.summary.latency.has_value());
  if (a.summary.latency) {
    RC_ASSERT(a.summary.latency->p99_9_ns == b.summary.latency->p99_9_ns);
    RC_ASSERT(a.summary.latency->sample_count == b.summary.latency->sample_count);
  }
  RC_ASSERT((a.latency == nullptr) == (b.latency == nullptr));
  if (!a.latency) return;
  RC_ASSERT(a.latency->count() == b.latency->count());
  RC_ASSERT(a.latency->max_ns() == b.latency->max_ns());
  RC_ASSERT(a.latency->percentile_ns(0.5) == b.latency->percentile_ns(0.5));
}

std::string written(const ResultSet& record) {
  std::ostringstream out;
  write_record(out, record);
  return out.str();
}

TEST(RecordsProperty, WhatIsWrittenIsRead) {
  EXPECT_TRUE(test::holds("write, read: the same record", [] {
    const auto record = any_record();
    const auto text = written(record);
    std::istringstream in(text);
    const auto back = read_record(in, "test.json");
    RC_ASSERT(back.header.backend == record.header.backend);
    RC_ASSERT(back.header.command_line == record.header.command_line);
    RC_ASSERT(back.header.provenance->claims == record.header.provenance->claims);
    RC_ASSERT(back.header.provenance->note == record.header.provenance->note);
    RC_ASSERT(sweep::plan_hash(*back.header.spec) == sweep::plan_hash(*record.header.spec));
    RC_ASSERT(back.complete == record.complete);
    RC_ASSERT(back.points.size() == record.points.size());
    for (std::size_t i = 0; i < back.points.size(); ++i) {
      RC_ASSERT(back.points[i].point == record.points[i].point);
      const auto& a = record.points[i].outcome;
      const auto& b = back.points[i].outcome;
      RC_ASSERT(a.index() == b.index());
      if (const auto* measured = std::get_if<Measured>(&a)) expect_same(*measured, std::get<Measured>(b));
      if (const auto* skipped = std::get_if<Skipped>(&a)) RC_ASSERT(skipped->reason == std::get<Skipped>(b).reason);
      if (const auto* failed = std::get_if<Failed>(&a)) expect_same(failed->trials, std::get<Failed>(b).trials);
    }
    RC_ASSERT(written(back) == text);
  }));
}

TEST(RecordsProperty, OneSpoiledByteNeverDoesMoreThanASchemaError) {
  EXPECT_TRUE(test::holds("spoil a byte: read or SchemaError", [] {
    auto text = written(any_record());
    text[*rc::gen::inRange<std::size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
    std::istringstream in(text);
    try {
      (void)read_record(in, "test.json");
    } catch (const SchemaError&) {
      RC_TAG("refused");
    }
  }));
}

}  // namespace
}  // namespace mtuscope::records
