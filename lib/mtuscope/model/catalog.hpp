#pragma once
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include "mtuscope/model/hca_model.hpp"
#include "mtuscope/model/lanai_model.hpp"
#include "mtuscope/model/pipeline_model.hpp"

namespace mtuscope::model {

using AnyModel = std::variant<HcaModel, LanaiModel, PipelineModel>;

/// A variant of model:lanai9 that rests on an assumption: 2^14 entries, and 53 blocks that do not circulate.
inline constexpr std::string_view kAssumedLanaiName = "model:lanai9-16384";

/// The model of that name. Nothing for an unknown name.
[[nodiscard]] std::optional<AnyModel> find_model(std::string_view name);

/// The names find_model knows: "model:tavor", "model:tavor5", "model:lanai9", ...
[[nodiscard]] std::vector<std::string_view> model_names();

/// What in a model is assumed and not taken from a source, in a sentence to be shown with its numbers. Empty if nothing
/// is, or for an unknown name.
[[nodiscard]] std::string_view model_assumption(std::string_view name);

}  // namespace mtuscope::model
