#include "mtuscope/mpi/session.hpp"

#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/core/log.hpp"
#include "mtuscope/mpi/payload.hpp"
#include "mtuscope/transport/slices.hpp"
#include "mtuscope/transport/wire.hpp"

namespace mtuscope::mpi {
namespace {

constexpr std::uint64_t kPageBytes = 4096;

}  // namespace

void Areas::Free::operator()(std::byte* base) const noexcept {
  // NOLINTNEXTLINE(cppcoreguidelines-owning-memory,cppcoreguidelines-no-malloc): std::aligned_alloc made it
  std::free(base);
}

Areas::Areas(std::uint64_t message_size_bytes)
    : stride_bytes_((message_size_bytes + kPageBytes - 1) / kPageBytes * kPageBytes + kPageBytes),
      // NOLINTNEXTLINE(cppcoreguidelines-owning-memory): owned from here on
      base_(static_cast<std::byte*>(std::aligned_alloc(kPageBytes, 2 * stride_bytes_))) {
  if (!base_) {
    throw RunError("cannot allocate " + std::to_string(2 * stride_bytes_) +
                   " B for a send and a receive area: use smaller messages");
  }
  std::memset(base_.get(), 0, 2 * stride_bytes_);  // touch the pages now, not in the first trial
}

MpiSession::MpiSession(SessionSetup setup)
    : setup_(std::move(setup)), watchdog_(setup_.spec.timeout_ns, setup_.alarm) {}

MpiSession::~MpiSession() { give_up(); }

void MpiSession::give_up() noexcept {
  if (room_.cancel()) return;
  try {  // never freed: MPI may still read and write the areas, and its own end comes before that of static objects
    static auto& kept = *new std::vector<std::shared_ptr<const Arrangement>>;
    kept.push_back(setup_.arrangement);
  } catch (const std::exception& error) {
    log(LogLevel::error, error.what());
  }
}

Wire MpiSession::wire(const TrialRequest& request) const noexcept {
  const auto& arrangement = *setup_.arrangement;
  const auto& areas = arrangement.areas;
  // A ping-pong bounces one buffer, as NetPIPE's does; two only where a reply must be seen to have come.
  const bool one_buffer = request.point.pattern == Pattern::ping_pong && !request.verify_payload;
  return {.comm = arrangement.comm.get(),
          .peer = setup_.peer,
          .send_area = areas.send_area(),
          .receive_area = one_buffer ? areas.send_area() : areas.receive_area(),
          .size_bytes = static_cast<int>(request.point.message_size_bytes)};
}

bool MpiSession::receives(const Point& point) const noexcept {
  return point.pattern != Pattern::stream || setup_.role == Role::responder;
}

StreamPlan MpiSession::plan(const TrialRequest& request) const noexcept {
  const auto& point = request.point;
  return {.messages = request.messages,
          .window = setup_.spec.tx_depth,
          .slice_messages = request.slice_messages,
          .sends = point.pattern == Pattern::bidirectional || setup_.role == Role::initiator,
          .receives = receives(point)};
}

void MpiSession::prepare(const TrialRequest& request) {
  if (!usable_) throw RunError("the session failed before and must be opened anew");
  const auto& point = request.point;
  const auto& areas = setup_.arrangement->areas;
  const auto size = point.message_size_bytes;
  if (size == 0 || size > areas.area_bytes() || size > std::numeric_limits<int>::max()) {
    throw RunError("a message of " + std::to_string(size) + " B does not fit the areas of " +
                   std::to_string(areas.area_bytes()) + " B");
  }
  if (request.verify_payload) {
    fill_payload({areas.send_area(), size}, setup_.role == Role::initiator);
    std::memset(areas.receive_area(), 0, size);
  }
  if (point.pattern == Pattern::ping_pong) return;
  const int code = room_.prepare(wire(request), plan(request));
  if (code == MPI_SUCCESS) return;
  usable_ = false;
  give_up();
  throw RunError(error_text("MPI_Irecv", code));
}

EndReading MpiSession::execute_ping_pong(const TrialRequest& request) {
  auto& progress = watchdog_.progress();
  if (setup_.role == Role::responder) {
    return to_reading(request, run_ponger(wire(request), request.messages, progress));
  }
  auto histogram = std::make_shared<LatencyHistogram>();
  auto reading = to_reading(request, run_pinger(wire(request), request.messages, *histogram, progress));
  reading.latency = std::move(histogram);
  return reading;
}

EndReading MpiSession::execute(const TrialRequest& request, Watch& watch) {
  const Watchdog::Duty duty{watchdog_, describe(request.point), watch};
  if (const int code = meet(wire(request)); code != MPI_SUCCESS) return to_reading(request, {.code = code});
  if (request.point.pattern == Pattern::ping_pong) return execute_ping_pong(request);
  return to_reading(request, run_stream(wire(request), plan(request), room_, watchdog_.progress()));
}

EndReading MpiSession::to_reading(const TrialRequest& request, const KernelReading& kernel) const {
  EndReading reading;
  reading.sent = kernel.sent;
  reading.received = kernel.received;
  if (kernel.code != MPI_SUCCESS) {
    reading.status = KernelStatus::completion_failed;
    reading.reason = describe(request.point) + ": " + error_text("MPI", kernel.code);
    return reading;
  }
  reading.send_elapsed_ns = kernel.end_ns - kernel.begin_ns;
  reading.min_slice_bytes_per_s = slowest_slice(std::span{room_.slice_ends_ns}.first(kernel.slices),
                                                request.slice_messages * request.point.message_size_bytes);
  return reading;
}

TrialReading MpiSession::run_checked(const TrialRequest& request, Watch& watch) {
  auto reading = run_two_ended(*this, request, *setup_.exchange, watch, setup_.spec.timeout_ns);
  if (reading.status != TrialStatus::ok) {  // what is still posted would meet the next trial's messages
    usable_ = false;
    give_up();
  }
  return reading;
}

TrialReading MpiSession::run(const TrialRequest& request, Watch& watch) {
  auto reading = run_checked(request, watch);
  if (request.verify_payload) verify(request, reading);
  return reading;
}

void MpiSession::verify(const TrialRequest& request, TrialReading& reading) {
  const auto& point = request.point;
  std::string mine;
  if (usable_ && receives(point)) {
    const std::span<const std::byte> area{setup_.arrangement->areas.receive_area(), point.message_size_bytes};
    if (const auto at = first_difference(area, setup_.role == Role::responder)) {
      mine = "payload differs at byte " + std::to_string(*at) + " of " + std::to_string(area.size()) + " (" +
             describe(point) + "): data was corrupted on its way";
    }
  }
  WireWriter writer;
  writer.put(std::string_view{mine});
  const auto answer = swap(*setup_.exchange, writer.bytes(), deadline());
  WireReader reader{answer};
  const auto theirs = reader.get_string();
  reader.expect_end();
  if (reading.status != TrialStatus::ok || (mine.empty() && theirs.empty())) return;
  reading.status = TrialStatus::failed;
  reading.reason = mine.empty() ? "peer " + setup_.exchange->peer_name() + ": " + theirs : mine;
}

}  // namespace mtuscope::mpi
