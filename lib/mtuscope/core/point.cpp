#include "mtuscope/core/point.hpp"

#include <array>
#include <utility>

namespace mtuscope {
namespace {

template <class Enum>
struct Words;  // the one table per enumeration that both directions use

template <>
struct Words<Connection> {
  static constexpr std::array<std::pair<Connection, std::string_view>, 7> kAll{{{Connection::rc, "rc"},
                                                                                {Connection::uc, "uc"},
                                                                                {Connection::ud, "ud"},
                                                                                {Connection::mpi, "mpi"},
                                                                                {Connection::gm, "gm"},
                                                                                {Connection::tcp, "tcp"},
                                                                                {Connection::none, "none"}}};
};
template <>
struct Words<Operation> {
  static constexpr std::array<std::pair<Operation, std::string_view>, 3> kAll{
      {{Operation::send, "send"}, {Operation::write, "write"}, {Operation::read, "read"}}};
};
template <>
struct Words<Pattern> {
  static constexpr std::array<std::pair<Pattern, std::string_view>, 3> kAll{
      {{Pattern::stream, "stream"}, {Pattern::bidirectional, "bidirectional"}, {Pattern::ping_pong, "ping-pong"}}};
};
template <>
struct Words<WaitMode> {
  static constexpr std::array<std::pair<WaitMode, std::string_view>, 3> kAll{
      {{WaitMode::spin, "spin"}, {WaitMode::yield, "yield"}, {WaitMode::event, "event"}}};
};
template <>
struct Words<ConnectMethod> {
  static constexpr std::array<std::pair<ConnectMethod, std::string_view>, 2> kAll{
      {{ConnectMethod::tcp, "tcp"}, {ConnectMethod::cm, "cm"}}};
};
template <>
struct Words<Pass> {
  static constexpr std::array<std::pair<Pass, std::string_view>, 3> kAll{
      {{Pass::none, "none"}, {Pass::up, "up"}, {Pass::down, "down"}}};
};
template <>
struct Words<ReuseOrder> {
  static constexpr std::array<std::pair<ReuseOrder, std::string_view>, 4> kAll{{{ReuseOrder::fifo, "fifo"},
                                                                                {ReuseOrder::lifo, "lifo"},
                                                                                {ReuseOrder::random, "random"},
                                                                                {ReuseOrder::sawtooth, "sawtooth"}}};
};
template <>
struct Words<MrMode> {
  static constexpr std::array<std::pair<MrMode, std::string_view>, 2> kAll{
      {{MrMode::one, "one"}, {MrMode::per_block, "per-block"}}};
};
template <>
struct Words<BufferSide> {
  static constexpr std::array<std::pair<BufferSide, std::string_view>, 3> kAll{
      {{BufferSide::source, "source"}, {BufferSide::destination, "destination"}, {BufferSide::both, "both"}}};
};

template <class Enum>
std::string_view word_of(Enum value) noexcept {
  for (const auto& [known, word] : Words<Enum>::kAll) {
    if (known == value) return word;
  }
  return "?";
}

}  // namespace

std::string_view to_string(Connection value) noexcept { return word_of(value); }
std::string_view to_string(Operation value) noexcept { return word_of(value); }
std::string_view to_string(Pattern value) noexcept { return word_of(value); }
std::string_view to_string(WaitMode value) noexcept { return word_of(value); }
std::string_view to_string(ConnectMethod value) noexcept { return word_of(value); }
std::string_view to_string(Pass value) noexcept { return word_of(value); }
std::string_view to_string(ReuseOrder value) noexcept { return word_of(value); }
std::string_view to_string(MrMode value) noexcept { return word_of(value); }
std::string_view to_string(BufferSide value) noexcept { return word_of(value); }

template <class Enum>
std::optional<Enum> enum_from_string(std::string_view word) noexcept {
  for (const auto& [value, known] : Words<Enum>::kAll) {
    if (known == word) return value;
  }
  return std::nullopt;
}
template std::optional<Connection> enum_from_string<Connection>(std::string_view) noexcept;
template std::optional<Operation> enum_from_string<Operation>(std::string_view) noexcept;
template std::optional<Pattern> enum_from_string<Pattern>(std::string_view) noexcept;
template std::optional<WaitMode> enum_from_string<WaitMode>(std::string_view) noexcept;
template std::optional<ConnectMethod> enum_from_string<ConnectMethod>(std::string_view) noexcept;
template std::optional<Pass> enum_from_string<Pass>(std::string_view) noexcept;
template std::optional<ReuseOrder> enum_from_string<ReuseOrder>(std::string_view) noexcept;
template std::optional<MrMode> enum_from_string<MrMode>(std::string_view) noexcept;
template std::optional<BufferSide> enum_from_string<BufferSide>(std::string_view) noexcept;

std::string describe(const WorkingSet& set) {
  const WorkingSet usual;
  auto text = std::to_string(set.block_count) + " blocks of " + std::to_string(set.block_size_bytes) + " B, ";
  text.append(to_string(set.order));
  if (set.mr_mode != usual.mr_mode) text.append(", a memory region each");
  if (set.page_size_bytes != usual.page_size_bytes) {
    text.append(", pages of ").append(std::to_string(set.page_size_bytes)).append(" B");
  }
  if (set.alias_count != usual.alias_count) text.append(", alias ").append(std::to_string(set.alias_count));
  if (set.side != usual.side) text.append(", at the ").append(to_string(set.side));
  return text;
}

std::string describe(const Point& point) {
  std::string text{to_string(point.connection)};
  text.append(" ").append(to_string(point.operation)).append(" ").append(to_string(point.pattern));
  text.append(" mtu ").append(point.path_mtu ? std::to_string(to_bytes(*point.path_mtu)) : "not stated");
  text.append(" size ").append(std::to_string(point.message_size_bytes)).append(" B");
  if (point.working_set) text.append(", ").append(describe(*point.working_set));
  if (point.pass != Pass::none) text.append(", pass ").append(to_string(point.pass));
  if (point.pair) text.append(" from ").append(point.pair->initiator).append(" to ").append(point.pair->responder);
  return text;
}

}  // namespace mtuscope
