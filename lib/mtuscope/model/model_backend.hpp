#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "mtuscope/transport/backend.hpp"

namespace mtuscope::model {

/// What the equations do not reach, as the end of a sentence that begins "has no equation for"; nothing if they do.
using MissingEquation = std::optional<std::string> (*)(const Point&);

/// What all models share: no peer, no device, numbers that are computed.
class ModelBackend : public Backend {
 public:
  ModelBackend(std::string_view name, MissingEquation missing) : name_(name), missing_(missing) {}

  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] Source source() const noexcept override { return Source::model; }
  [[nodiscard]] bool needs_peer() const noexcept override { return false; }
  [[nodiscard]] bool deterministic() const noexcept override { return true; }
  [[nodiscard]] std::optional<std::string> refusal(const Point& point, const Environment* /*peer*/) const override {
    auto missing = missing_(point);
    if (missing) missing->insert(0, name_ + " has no equation for ");
    return missing;
  }
  [[nodiscard]] Environment environment() const override { return {}; }

 private:
  std::string name_;
  MissingEquation missing_;
};

}  // namespace mtuscope::model
