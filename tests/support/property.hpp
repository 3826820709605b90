#pragma once
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>

namespace mtuscope::test {

/// Checks a RapidCheck property with a fixed seed, because a test must give the same answer every time; the counter
/// example and the seed are part of the failure. Returns a GoogleTest result for EXPECT_TRUE.
template <class Property>
testing::AssertionResult holds(const std::string& description, Property&& property, std::uint64_t seed = 1) {
  rc::detail::TestMetadata metadata;
  metadata.id = description;
  metadata.description = description;
  rc::detail::TestParams parameters;
  parameters.seed = seed;
  const auto result = rc::detail::checkTestable(std::forward<Property>(property), metadata, parameters);
  if (result.template is<rc::detail::SuccessResult>()) return testing::AssertionSuccess();
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  return testing::AssertionFailure() << description << " (seed " << seed << "): " << text.str();
}

}  // namespace mtuscope::test
