#include <iostream>
#include <mtuscope/core/version.hpp>
#include <mtuscope/sweep/spec.hpp>

int main() {
  const auto sizes_bytes = mtuscope::sweep::parse_sizes("1:4,6");
  std::cout << sizes_bytes.size() << " sizes\n";
  return sizes_bytes.size() == 4 ? 0 : 1;
}
