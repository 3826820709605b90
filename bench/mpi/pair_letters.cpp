#include "pair_letters.hpp"

#include "mtuscope/mpi/star.hpp"
#include "mtuscope/sweep/environment_wire.hpp"

namespace mtuscope::cli {
namespace {

void put_pair(WireWriter& writer, const sweep::RankPair& pair) {
  writer.put(pair.initiator);
  writer.put(pair.responder);
}

sweep::RankPair get_pair(WireReader& reader) {
  const auto initiator = reader.get<std::uint32_t>();
  return {initiator, reader.get<std::uint32_t>()};
}

}  // namespace

std::vector<std::byte> encode(const RankHello& hello) {
  WireWriter writer;
  writer.put(std::string_view{hello.build});
  writer.put(std::string_view{hello.problem});
  sweep::put_environment(writer, hello.environment);
  return writer.bytes();
}

std::vector<std::byte> encode(const PairOrder& order) {
  WireWriter writer;
  writer.put(order.kind);
  writer.put(std::string_view{order.plan});
  writer.put(order.round);
  put_pair(writer, order.pair);
  return writer.bytes();
}

std::vector<std::byte> encode(const PairReport& report) {
  WireWriter writer;
  writer.put(report.kind);
  put_pair(writer, report.pair);
  writer.put(report.elapsed_ns);
  writer.put(std::string_view{report.text});
  return writer.bytes();
}

RankHello decode_hello(std::span<const std::byte> bytes) {
  WireReader reader{bytes};
  RankHello hello;
  hello.build = reader.get_string();
  hello.problem = reader.get_string();
  hello.environment = sweep::get_environment(reader);
  reader.expect_end();
  return hello;
}

PairOrder decode_order(std::span<const std::byte> bytes) {
  WireReader reader{bytes};
  PairOrder order;
  order.kind = reader.get_enum(PairOrder::Kind::end);
  order.plan = reader.get_string(mpi::Star::kMaxLetterBytes);
  order.round = reader.get<std::uint32_t>();
  order.pair = get_pair(reader);
  reader.expect_end();
  return order;
}

PairReport decode_report(std::span<const std::byte> bytes) {
  WireReader reader{bytes};
  PairReport report;
  report.kind = reader.get_enum(PairReport::Kind::lost);
  report.pair = get_pair(reader);
  report.elapsed_ns = reader.get<std::uint64_t>();
  report.text = reader.get_string(mpi::Star::kMaxLetterBytes);
  reader.expect_end();
  return report;
}

}  // namespace mtuscope::cli
