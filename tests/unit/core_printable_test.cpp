#include <gtest/gtest.h>

#include "mtuscope/core/printable.hpp"

namespace mtuscope {
namespace {

TEST(Printable, SpellsOutControlCharacters) {
  EXPECT_EQ(printable("node-7 \xc3\xa9"), "node-7 \xc3\xa9");
  EXPECT_EQ(printable("a\x1b]0;title\x07\nb\x7f"), "a\\x1b]0;title\\x07\\x0ab\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");
}

TEST(Printable, SpellsOutWhatIsNoUtf8) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");  // a terminal may take the byte alone for a control sequence
  EXPECT_EQ(printable("a\xe2\x82"), "a\\xe2\\x82");
  EXPECT_EQ(printable("\xc0\xaf"), "\\xc0\\xaf");
  EXPECT_EQ(printable("\xe2\x82\xac\xff"), "\xe2\x82\xac\\xff");
}

}  // namespace
}  // namespace mtuscope
