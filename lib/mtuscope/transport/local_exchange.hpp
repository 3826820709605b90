#pragma once
#include <memory>
#include <utility>

#include "mtuscope/transport/exchange.hpp"

namespace mtuscope {

/// Two ends of an Exchange between threads of one process (loopback runs, tests).
[[nodiscard]] std::pair<std::unique_ptr<Exchange>, std::unique_ptr<Exchange>> make_local_exchange();

}  // namespace mtuscope
