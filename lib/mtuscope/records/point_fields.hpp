#pragma once
#include <memory>

#include "mtuscope/core/outcome.hpp"
#include "mtuscope/core/point.hpp"
#include "mtuscope/records/json_fields.hpp"

/// The members of a point's objects, in the order they are written.
namespace mtuscope::records {

void visit_fields(auto& archive, FieldsOf<WorkingSet> auto& set) {
  archive("block_count", set.block_count);
  archive("block_size_bytes", set.block_size_bytes);
  archive("page_size_bytes", set.page_size_bytes);
  archive("alias_count", set.alias_count);
  archive("mr_mode", set.mr_mode);
  archive("order", set.order);
  archive("side", set.side);
}

void visit_fields(auto& archive, FieldsOf<Pair> auto& pair) {
  archive("initiator", pair.initiator);
  archive("responder", pair.responder);
}

/// What identifies a point except `segmented` and `pass`, which are left out at their usual value.
void visit_fields(auto& archive, FieldsOf<Point> auto& point) {
  archive.always("connection", point.connection);
  archive.always("operation", point.operation);
  archive.always("pattern", point.pattern);
  archive.always("path_mtu_bytes", point.path_mtu);
  archive.always("message_size_bytes", point.message_size_bytes);
  archive.always("header_bytes", point.header_bytes);
  archive("tx_depth", point.tx_depth);
  archive("rx_depth", point.rx_depth);
  archive("post_list", point.post_list);
  archive("cq_mod", point.cq_mod);
  archive("inline_bytes", point.inline_bytes);
  archive("qp_count", point.qp_count);
  archive("wait_mode", point.wait_mode);
  archive("connect_method", point.connect_method);
  archive("working_set", point.working_set);
  archive("pair", point.pair);
}

void visit_fields(auto& archive, FieldsOf<Estimate> auto& estimate) {
  archive.always("value", estimate.value);
  archive.always("low", estimate.low);
  archive.always("high", estimate.high);
}

void visit_fields(auto& archive, FieldsOf<LatencySummary> auto& latency) {
  archive("p50_ns", latency.p50_ns);
  archive("p90_ns", latency.p90_ns);
  archive("p99_ns", latency.p99_ns);
  archive("p99_9_ns", latency.p99_9_ns);
  archive("min_ns", latency.min_ns);
  archive("max_ns", latency.max_ns);
  archive("sample_count", latency.sample_count);
}

void visit_fields(auto& archive, FieldsOf<Summary> auto& summary) {
  archive.always("trial_count", summary.trial_count);
  archive.always("arrangement_count", summary.arrangement_count);
  archive.always("bandwidth_bytes_per_s", summary.bandwidth_bytes_per_s);
  archive("message_rate_per_s", summary.message_rate_per_s);
  archive("latency_ns", summary.latency_ns);
  archive("latency_distribution", summary.latency);
  archive("min_slice_bytes_per_s", summary.min_slice_bytes_per_s);
  archive("within_variation", summary.within_variation);
  archive("between_variation", summary.between_variation);
  archive("loss_fraction", summary.loss_fraction);
  archive("exact", summary.exact);
}

/// A trial outside of a record's rows.
void visit_fields(auto& archive, FieldsOf<Trial> auto& trial) {
  archive.always("arrangement", trial.arrangement);
  archive.always("round", trial.round);
  archive.always("order", trial.order);
  archive.always("messages", trial.messages);
  archive.always("elapsed_ns", trial.elapsed_ns);
  archive("sent_messages", trial.sent_messages);
  archive("received_messages", trial.received_messages);
  archive("min_slice_bytes_per_s", trial.min_slice_bytes_per_s);
  archive("sender_elapsed_ns", trial.sender_elapsed_ns);
}

}  // namespace mtuscope::records
