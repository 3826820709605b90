# Turns text files into one C++ source that defines, in `NAMESPACE`, what HEADER declares:
#   cmake -DOUT=x.cpp -DHEADER=a/b.hpp -DNAMESPACE=a::b -DVARIABLE=kText -DFILES=one.json         one std::string_view
#   ... -DMODE=TABLE -DFILES=one.json|two.json          a std::span of std::string_view, sorted by file name
# Raw strings keep every byte; the delimiter must not appear in the files.
string(REPLACE "|" ";" FILES "${FILES}")
set(texts "")
set(names "")
set(index 0)
foreach(file IN LISTS FILES)
  file(READ "${file}" content)
  string(APPEND texts "constexpr std::string_view kText${index} = R\"embedded(${content})embedded\";\n")
  string(APPEND names "kText${index}, ")
  math(EXPR index "${index} + 1")
endforeach()
if(MODE STREQUAL "TABLE")
  set(definition "constexpr std::array<std::string_view, ${index}> kTexts{${names}};\n}  // namespace\nconst std::span<const std::string_view> ${VARIABLE}{kTexts};\n")
else()
  set(definition "}  // namespace\nconst std::string_view ${VARIABLE} = kText0;\n")
endif()
file(WRITE "${OUT}" "#include \"${HEADER}\"\n\n#include <array>\n\nnamespace ${NAMESPACE} {\nnamespace {\n${texts}${definition}\n}  // namespace ${NAMESPACE}\n")
