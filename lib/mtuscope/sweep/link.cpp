#include "mtuscope/sweep/link.hpp"

#include <string>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/core/version.hpp"
#include "mtuscope/sweep/protocol.hpp"
#include "mtuscope/transport/two_ended.hpp"

namespace mtuscope::sweep {

void Link::command(const std::vector<std::byte>& payload) { exchange_->send(FrameKind::data, payload, soon()); }

std::optional<Environment> Link::greet(const Environment& mine) {
  if (exchange_ == nullptr) return std::nullopt;
  const Hello hello{.mtuscope_version = kVersion, .backend = std::string{backend_.name()}, .environment = mine};
  command(encode(hello).bytes());
  std::vector<std::byte> answer;
  try {
    answer = receive_data(*exchange_, soon());
  } catch (const PeerError& error) {
    throw PeerError(
        std::string{error.what()} +
        " (when greeted: is `mtuscope serve` of this version running there, and not busy with another client?)");
  }
  WireReader reader{answer};
  if (reader.get_enum(Command::bye) != Command::hello) throw PeerError("the peer did not say hello");
  return decode_hello(reader).environment;
}

void Link::open(std::span<const SessionSpec> specs) {
  // The peer is told before: closing may be a common step of both ends (MPI frees communicators so).
  if (exchange_ != nullptr) command(encode_open(specs).bytes());
  sessions_.clear();
  if (exchange_ == nullptr) {
    sessions_ = backend_.open(specs, Role::initiator, nullptr);
    return;
  }
  const auto failed = run_step(
      *exchange_, [&] { sessions_ = backend_.open(specs, Role::initiator, exchange_); }, soon());
  if (!failed) return;
  sessions_.clear();
  throw RunError(*failed);
}

MtuProof Link::prove(std::uint32_t index) {
  ExchangeWatch watch{exchange_, timeout_ns_, stop_};
  if (exchange_ == nullptr) return sessions_[index]->prove_mtu(watch);
  command(encode_prove(index).bytes());
  MtuProof proof;
  const auto failed = run_step(
      *exchange_, [&] { proof = sessions_[index]->prove_mtu(watch); }, soon());
  if (failed) throw RunError(*failed);
  return proof;
}

TrialReading Link::run(std::uint32_t index, const TrialRequest& request) {
  ExchangeWatch watch{exchange_, timeout_ns_, stop_};
  if (exchange_ != nullptr) command(encode_trial(index, request).bytes());
  return sessions_[index]->run(request, watch);
}

void Link::close() {
  if (exchange_ != nullptr) command(encode_command(Command::close).bytes());
  sessions_.clear();
  if (exchange_ == nullptr) return;
  const auto frame = exchange_->receive(soon());
  if (frame.kind != FrameKind::finished) throw PeerError("the peer did not close its sessions");
}

void Link::say_goodbye() noexcept {
  try {
    if (exchange_ != nullptr) command(encode_command(Command::bye).bytes());
  } catch (const std::exception& error) {  // it has gone first
    log(LogLevel::debug, error.what());
  }
  sessions_.clear();
}

}  // namespace mtuscope::sweep
