/// What our own code costs per message. Two back ends are linked and chosen at run time, so that the compiler cannot
/// guess which Session is behind the virtual call and inline through it.
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <string>

#include "mtuscope/memory/floor_backend.hpp"
#include "mtuscope/transport/two_ended.hpp"

namespace {

using namespace mtuscope;

constexpr std::uint64_t kMessages = 1'000'000;

/// Null for range(0) == 0, memset of 64 B for 1; post list in range(1), cq-mod in range(2).
void stream(benchmark::State& state) {
  const auto backend = state.range(0) == 0 ? memory::make_null() : memory::make_memset();
  SessionSpec spec;
  spec.max_message_size_bytes = 64;
  spec.post_list = static_cast<std::uint32_t>(state.range(1));
  spec.cq_mod = static_cast<std::uint32_t>(state.range(2));
  const auto sessions = backend->open({&spec, 1}, Role::initiator, nullptr);
  TrialRequest request;
  request.messages = kMessages;
  request.point.message_size_bytes = 64;
  request.point.path_mtu = PathMtu::mtu1024;
  const std::atomic<bool> stop{false};
  ExchangeWatch watch{nullptr, spec.timeout_ns, stop};
  for (auto _ : state) {  // NOLINT(clang-analyzer-deadcode.DeadStores): the loop Google Benchmark asks for
    const auto reading = sessions.front()->run(request, watch);
    benchmark::DoNotOptimize(reading.elapsed_ns);
    if (reading.status == TrialStatus::ok) continue;
    state.SkipWithError(reading.reason.c_str());
    break;
  }
  state.counters["per_message"] = benchmark::Counter(
      static_cast<double>(kMessages), benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(stream)->ArgNames({"memset", "post_list", "cq_mod"})->ArgsProduct({{0, 1}, {1, 16}, {1, 100}});

}  // namespace
