#pragma once
#include <cstdint>
#include <memory>

#include "mtuscope/transport/backend.hpp"

namespace mtuscope::model {

/// A device whose cliff is known beforehand, so that what finds cliffs can be tested. It models nothing that exists and
/// is not one of `model_names()`.
struct SyntheticDevice {
  std::uint64_t capacity_pages = 0;    ///< 4 KiB pages per cycle up to which nothing is missed; 0: no cliff
  std::uint64_t hysteresis_pages = 0;  ///< after a drop it recovers only at capacity - hysteresis pages or below
  double miss_ns = 5000;               ///< per page of a message once it has dropped
  double noise = 0;                    ///< every trial's time is off by up to this part of it, either way
  std::uint64_t seed = 1;              ///< of the noise
};

/// The back end "model:synthetic": streams of sends over rc or gm at any path MTU, with working sets and passes. A
/// message takes 1 us + 1 ns/B, and `miss_ns` per page while the device has dropped; a drop lasts as long as the series
/// of passes (PassSeries). LIFO touches the blocks in flight alone; with random and sawtooth only the share of pages
/// beyond the capacity is missed.
[[nodiscard]] std::unique_ptr<Backend> make_synthetic(const SyntheticDevice& device);

}  // namespace mtuscope::model
