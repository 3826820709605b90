#pragma once
#include <memory>
#include <string_view>

#include "mtuscope/model/catalog.hpp"
#include "mtuscope/transport/backend.hpp"

namespace mtuscope::model {

/// The back end of one of `model_names()`. It has no peer, and equal trials give equal numbers: each starts with an
/// idle pair at simulated time 0.
/// Throws ConfigError for an unknown name, naming those that are known.
[[nodiscard]] std::unique_ptr<Backend> make_model(std::string_view name);

}  // namespace mtuscope::model
