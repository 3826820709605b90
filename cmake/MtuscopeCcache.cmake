# Compiles through ccache where it is installed and the user has named no launcher.
if(PROJECT_IS_TOP_LEVEL AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(MTUSCOPE_CCACHE ccache)
  if(MTUSCOPE_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${MTUSCOPE_CCACHE})
  endif()
endif()
