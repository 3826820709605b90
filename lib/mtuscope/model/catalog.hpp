#pragma once
#include <optional>
#include <string_view>
#include <vector>

#include "mtuscope/model/hca_model.hpp"

namespace mtuscope::model {

/// The models by name: "tavor", "tavor5". Nothing for an unknown name.
[[nodiscard]] std::optional<HcaModel> find_model(std::string_view name);

/// The names find_model knows.
[[nodiscard]] std::vector<std::string_view> catalog_names();

}  // namespace mtuscope::model
