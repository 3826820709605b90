#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "mtuscope/model/hca_model.hpp"

namespace mtuscope::model {

/// The model of that name. Nothing for an unknown name.
[[nodiscard]] std::optional<HcaModel> find_model(std::string_view name);

/// The names find_model knows: "model:tavor", "model:tavor5".
[[nodiscard]] std::vector<std::string_view> model_names();

}  // namespace mtuscope::model
