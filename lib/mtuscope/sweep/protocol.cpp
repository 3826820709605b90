#include "mtuscope/sweep/protocol.hpp"

#include <utility>

#include "mtuscope/sweep/environment_wire.hpp"
#include "mtuscope/sweep/spec.hpp"
#include "mtuscope/transport/block_pool.hpp"
#include "mtuscope/transport/slices.hpp"

namespace mtuscope::sweep {
namespace {

/// 0 stands for a path MTU that is not stated.
void put_path_mtu(WireWriter& writer, std::optional<PathMtu> mtu) {
  writer.put(static_cast<std::uint16_t>(mtu ? to_bytes(*mtu) : 0));
}

std::optional<PathMtu> get_path_mtu(WireReader& reader) {
  const auto bytes = reader.get<std::uint16_t>();
  if (bytes == 0) return std::nullopt;
  const auto mtu = path_mtu_from_bytes(bytes);
  if (!mtu) throw PeerError("the peer sent a malformed message (no such path MTU)");
  return mtu;
}

void put_working_set(WireWriter& writer, const WorkingSet& set) {
  writer.put(set.block_count);
  writer.put(set.block_size_bytes);
  writer.put(set.page_size_bytes);
  writer.put(set.alias_count);
  writer.put(set.mr_mode);
  writer.put(set.order);
  writer.put(set.side);
}

WorkingSet get_working_set(WireReader& reader) {
  WorkingSet set;
  set.block_count = reader.get<std::uint64_t>();
  set.block_size_bytes = reader.get<std::uint64_t>();
  set.page_size_bytes = reader.get<std::uint64_t>();
  set.alias_count = reader.get<std::uint32_t>();
  set.mr_mode = reader.get_enum(MrMode::per_block);
  set.order = reader.get_enum(ReuseOrder::sawtooth);
  set.side = reader.get_enum(BufferSide::both);
  if (!is_mappable(set)) throw PeerError("the peer asked for blocks outside the limits of this version");
  return set;
}

void put_spec(WireWriter& writer, const SessionSpec& spec) {
  writer.put(spec.connection);
  put_path_mtu(writer, spec.path_mtu);
  writer.put(spec.max_message_size_bytes);
  for (const auto value :
       {spec.tx_depth, spec.rx_depth, spec.post_list, spec.cq_mod, spec.inline_bytes, spec.qp_count}) {
    writer.put(value);
  }
  writer.put(spec.wait_mode);
  writer.put(spec.connect_method);
  writer.put(spec.service_level);
  writer.put(spec.traffic_class);
  writer.put(spec.retry_count);
  writer.put(spec.flow_control);
  writer.put(spec.timeout_ns);
  writer.put(spec.working_set.has_value());
  if (spec.working_set) put_working_set(writer, *spec.working_set);
}

/// What a stranger's plan may ask for at most; the device's own caps are checked when the session is opened.
void check_bounds(const SessionSpec& spec) {
  const bool fits =
      !spec.working_set || (spec.working_set->block_size_bytes >= spec.max_message_size_bytes && spec.qp_count == 1);
  const bool sane = fits && spec.max_message_size_bytes <= kMaxMessageBytes && spec.tx_depth >= 1 &&
                    spec.tx_depth <= kMaxDepth && spec.rx_depth >= 1 && spec.rx_depth <= kMaxDepth &&
                    spec.post_list >= 1 && spec.post_list <= spec.tx_depth && spec.cq_mod >= 1 &&
                    spec.cq_mod <= spec.tx_depth && spec.qp_count >= 1 && spec.qp_count <= kMaxQpCount &&
                    spec.timeout_ns >= kMinTimeoutNs && spec.timeout_ns <= kMaxTimeoutNs &&
                    spec.service_level <= kMaxServiceLevel && spec.retry_count <= kMaxRetryCount;
  if (!sane) throw PeerError("the peer asked for a session outside the limits of this version");
}

/// The same for a trial: what is counted, divided by or sized by it must not end this end.
void check_bounds(const TrialRequest& request) {
  const auto& point = request.point;
  const bool sane = request.messages >= 1 && request.messages <= kMaxTrialMessages && point.message_size_bytes >= 1 &&
                    point.message_size_bytes <= kMaxMessageBytes &&
                    (request.slice_messages == 0 || request.messages / request.slice_messages <= kMaxSlices);
  if (!sane) throw PeerError("the peer asked for a trial outside the limits of this version");
}

SessionSpec get_spec(WireReader& reader) {
  SessionSpec spec;
  spec.connection = reader.get_enum(Connection::none);
  spec.path_mtu = get_path_mtu(reader);
  spec.max_message_size_bytes = reader.get<std::uint64_t>();
  for (auto* value :
       {&spec.tx_depth, &spec.rx_depth, &spec.post_list, &spec.cq_mod, &spec.inline_bytes, &spec.qp_count}) {
    *value = reader.get<std::uint32_t>();
  }
  spec.wait_mode = reader.get_enum(WaitMode::event);
  spec.connect_method = reader.get_enum(ConnectMethod::cm);
  spec.service_level = reader.get<std::uint8_t>();
  spec.traffic_class = reader.get<std::uint8_t>();
  spec.retry_count = reader.get<std::uint8_t>();
  spec.flow_control = reader.get_bool();
  spec.timeout_ns = reader.get<std::uint64_t>();
  if (reader.get_bool()) spec.working_set = get_working_set(reader);
  check_bounds(spec);
  return spec;
}

}  // namespace

WireWriter encode_command(Command command) {
  WireWriter writer;
  writer.put(command);
  return writer;
}

WireWriter encode(const Hello& hello) {
  auto writer = encode_command(Command::hello);
  writer.put(hello.protocol_version);
  writer.put(std::string_view{hello.mtuscope_version});
  writer.put(std::string_view{hello.backend});
  put_environment(writer, hello.environment);
  return writer;
}

Hello decode_hello(WireReader& reader) {
  Hello hello;
  hello.protocol_version = reader.get<std::uint32_t>();
  hello.mtuscope_version = reader.get_string();
  if (hello.protocol_version != kProtocolVersion) {
    throw PeerError("the peer is mtuscope " + hello.mtuscope_version + " with protocol " +
                    std::to_string(hello.protocol_version) + ", this end has protocol " +
                    std::to_string(kProtocolVersion) + "; install the same version on both hosts");
  }
  hello.backend = reader.get_string();
  hello.environment = get_environment(reader);
  reader.expect_end();
  return hello;
}

WireWriter encode_open(std::span<const SessionSpec> specs) {
  auto writer = encode_command(Command::open);
  writer.put(static_cast<std::uint32_t>(specs.size()));
  for (const auto& spec : specs) put_spec(writer, spec);
  return writer;
}

std::vector<SessionSpec> decode_open(WireReader& reader) {
  const auto count = reader.get<std::uint32_t>();
  if (count == 0 || count > kMaxSessions) throw PeerError("the peer asked for an impossible number of sessions");
  std::vector<SessionSpec> specs;
  for (std::uint32_t i = 0; i < count; ++i) specs.push_back(get_spec(reader));
  reader.expect_end();
  return specs;
}

WireWriter encode_trial(std::uint32_t session, const TrialRequest& request) {
  auto writer = encode_command(Command::trial);
  const auto& point = request.point;
  writer.put(session);
  writer.put(request.messages);
  writer.put(request.slice_messages);
  writer.put(request.verify_payload);
  writer.put(point.connection);
  writer.put(point.operation);
  writer.put(point.pattern);
  put_path_mtu(writer, point.path_mtu);
  writer.put(point.message_size_bytes);
  writer.put(point.header_bytes);
  writer.put(point.segmented);
  return writer;
}

std::uint32_t decode_session(WireReader& reader, std::size_t session_count) {
  const auto session = reader.get<std::uint32_t>();
  if (session >= session_count) throw PeerError("the peer named a session that is not open");
  return session;
}

std::pair<std::uint32_t, TrialRequest> decode_trial(WireReader& reader, std::size_t session_count) {
  const auto session = decode_session(reader, session_count);
  TrialRequest request;
  request.messages = reader.get<std::uint64_t>();
  request.slice_messages = reader.get<std::uint64_t>();
  request.verify_payload = reader.get_bool();
  auto& point = request.point;
  point.connection = reader.get_enum(Connection::none);
  point.operation = reader.get_enum(Operation::read);
  point.pattern = reader.get_enum(Pattern::ping_pong);
  point.path_mtu = get_path_mtu(reader);
  point.message_size_bytes = reader.get<std::uint64_t>();
  point.header_bytes = reader.get<std::uint32_t>();
  point.segmented = reader.get_bool();
  reader.expect_end();
  check_bounds(request);
  return {session, request};
}

WireWriter encode_prove(std::uint32_t session) {
  auto writer = encode_command(Command::prove);
  writer.put(session);
  return writer;
}

}  // namespace mtuscope::sweep
