#pragma once
#include "mtuscope/core/environment.hpp"
#include "mtuscope/core/mtu_proof.hpp"
#include "mtuscope/core/outcome.hpp"
#include "mtuscope/records/json_fields.hpp"
#include "mtuscope/records/point_fields.hpp"
#include "mtuscope/records/result_set.hpp"
#include "mtuscope/sweep/spec.hpp"

/// The members of every object in a record's header, in the order they are written.
namespace mtuscope::records {

template <>
[[nodiscard]] inline std::optional<Source> word_to_enum<Source>(std::string_view word) noexcept {
  for (const auto source : {Source::measured, Source::model, Source::posted, Source::imported}) {
    if (word == to_string(source)) return source;
  }
  return std::nullopt;
}

template <>
[[nodiscard]] inline std::optional<ProofVerdict> word_to_enum<ProofVerdict>(std::string_view word) noexcept {
  for (const auto verdict : {ProofVerdict::proved, ProofVerdict::contradicted, ProofVerdict::not_provable}) {
    if (word == to_string(verdict)) return verdict;
  }
  return std::nullopt;
}

void visit_fields(auto& archive, FieldsOf<sweep::StopRule> auto& rule) {
  archive("relative_interval", rule.relative_interval);
  archive("min_trials", rule.min_trials);
  archive("arrangements", rule.arrangements);
  archive("max_trials", rule.max_trials);
  archive("max_time_ns", rule.max_time_ns);
}

void visit_fields(auto& archive, FieldsOf<sweep::SweepSpec> auto& spec) {
  archive("connections", spec.connections);
  archive("operations", spec.operations);
  archive("patterns", spec.patterns);
  archive("path_mtus_bytes", spec.path_mtus);
  archive("message_sizes_bytes", spec.message_sizes_bytes);
  archive.added("working_sets", spec.working_sets);
  archive.added("passes", spec.passes);
  archive("header_bytes", spec.header_bytes);
  archive("tx_depth", spec.tx_depth);
  archive("rx_depth", spec.rx_depth);
  archive("post_list", spec.post_list);
  archive("cq_mod", spec.cq_mod);
  archive("inline_bytes", spec.inline_bytes);
  archive("qp_count", spec.qp_count);
  archive("wait_mode", spec.wait_mode);
  archive("connect_method", spec.connect_method);
  archive("service_level", spec.service_level);
  archive("traffic_class", spec.traffic_class);
  archive("retry_count", spec.retry_count);
  archive("segment", spec.segment);
  archive("flow_control", spec.flow_control);
  archive("verify_payload", spec.verify_payload);
  archive("messages", spec.messages);
  archive("trial_time_ns", spec.trial_time_ns);
  archive("slice_time_ns", spec.slice_time_ns);
  archive("timeout_ns", spec.timeout_ns);
  archive("seed", spec.seed);
  archive("stop", spec.stop);
}

void visit_fields(auto& archive, FieldsOf<ClockQuality> auto& clock) {
  archive("resolution_ns", clock.resolution_ns);
  archive("cost_ns", clock.cost_ns);
}

void visit_fields(auto& archive, FieldsOf<HostInfo> auto& host) {
  archive("hostname", host.hostname);
  archive("kernel", host.kernel);
  archive("cpu_model", host.cpu_model);
  archive("cpu_count", host.cpu_count);
  archive("numa_node_count", host.numa_node_count);
  archive("cpu_governor", host.cpu_governor);
  archive("memlock_bytes", host.memlock_bytes);
  archive("memory_bytes", host.memory_bytes);
  archive("page_size_bytes", host.page_size_bytes);
  archive("iommu", host.iommu);
  archive("clock", host.clock);
}

void visit_fields(auto& archive, FieldsOf<GidInfo> auto& gid) {
  archive("index", gid.index);
  archive("gid", gid.gid);
  archive("type", gid.type);
  archive("netdev", gid.netdev);
}

void visit_fields(auto& archive, FieldsOf<PortInfo> auto& port) {
  archive("number", port.number);
  archive("state", port.state);
  archive("physical_state", port.physical_state);
  archive("link_layer", port.link_layer);
  archive("active_mtu_bytes", port.active_mtu);
  archive("max_mtu_bytes", port.max_mtu);
  archive("netdev", port.netdev);
  archive("netdev_mtu_bytes", port.netdev_mtu_bytes);
  archive("speed", port.speed);
  archive("width", port.width);
  archive("rate_gbit_per_s", port.rate_gbit_per_s);
  archive("lid", port.lid);
  archive("sm_lid", port.sm_lid);
  archive("gids", port.gids);
  archive("chosen_gid_index", port.chosen_gid_index);
  archive("chosen_gid_reason", port.chosen_gid_reason);
}

void visit_fields(auto& archive, FieldsOf<DeviceInfo> auto& device) {
  archive("name", device.name);
  archive("vendor_id", device.vendor_id);
  archive("part_id", device.part_id);
  archive("part_name", device.part_name);
  archive("is_tavor", device.is_tavor);
  archive("firmware", device.firmware);
  archive("board_id", device.board_id);
  archive("driver", device.driver);
  archive("node_guid", device.node_guid);
  archive("node_type", device.node_type);
  archive("numa_node", device.numa_node);
  archive("pci_address", device.pci_address);
  archive("pci_link", device.pci_link);
  archive("ports", device.ports);
}

void visit_fields(auto& archive, FieldsOf<Environment> auto& environment) {
  archive("host", environment.host);
  archive("mtuscope_version", environment.mtuscope_version);
  archive("rdma_core_version", environment.rdma_core_version);
  archive("mpi_library", environment.mpi_library);
  archive("device", environment.device);
  archive("port_number", environment.port_number);
  archive("gid_index", environment.gid_index);
  archive("cpu", environment.cpu);
}

void visit_fields(auto& archive, FieldsOf<PairPlan> auto& pairs) {
  archive("schedule", pairs.schedule);
  archive("both_directions", pairs.both_directions);
  archive("at_once", pairs.at_once);
}

void visit_fields(auto& archive, FieldsOf<RankEnvironment> auto& rank) {
  archive("name", rank.name);
  archive("environment", rank.environment);
}

void visit_fields(auto& archive, FieldsOf<Provenance> auto& provenance) {
  archive("id", provenance.id);
  archive("title", provenance.title);
  archive("reference", provenance.reference);
  archive("not_stated", provenance.not_stated);
  archive("claims", provenance.claims);
  archive("note", provenance.note);
}

void visit_fields(auto& archive, FieldsOf<MtuProof> auto& proof) {
  archive("asked_bytes", proof.asked);
  archive("local_active_bytes", proof.local_active);
  archive("remote_active_bytes", proof.remote_active);
  archive("local_read_back_bytes", proof.local_read_back);
  archive("remote_read_back_bytes", proof.remote_read_back);
  archive("route_mtu_bytes", proof.route_mtu);
  archive("burst_messages", proof.burst_messages);
  archive("burst_message_size_bytes", proof.burst_message_size_bytes);
  archive("expected_packets", proof.expected_packets);
  archive("counted_packets", proof.counted_packets);
  archive("counter", proof.counter);
  archive("verdict", proof.verdict);
  archive("reason", proof.reason);
  archive.added("setting", proof.setting);
}

void visit_fields(auto& archive, FieldsOf<sweep::SessionRecord> auto& session) {
  archive("arrangement", session.arrangement);
  archive("connection", session.connection);
  archive("proof", session.proof);
}

}  // namespace mtuscope::records
