#include <gtest/gtest.h>

#include "mtuscope/core/printable.hpp"

namespace mtuscope {
namespace {

TEST(Printable, SpellsOutControlCharacters) {
  EXPECT_EQ(printable("node-7 \xc3\xa9"), "node-7 \xc3\xa9");
  EXPECT_EQ(printable("a\x1b]0;title\x07\nb\x7f"), "a\\x1b]0;title\\x07\\x0ab\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\xc2\\x9b");
}

}  // namespace
}  // namespace mtuscope
