#include "options_blocks.hpp"

#include <CLI/CLI.hpp>
#include <map>

#include "mtuscope/core/error.hpp"
#include "parse.hpp"

namespace mtuscope::cli {

void add_blocks(CLI::App& app, BlocksOptions& options) {
  app.add_option("run", options.run, "record of a sweep with blocks")->required();
  app.add_option("--floors", options.floors,
                 "NULL,MEMSET: records of the floors (default: RUN's .null.json and .memset.json beside it)")
      ->delimiter(',')
      ->expected(2);
  app.add_option_function<std::uint64_t>(
         "--need", [&options](const std::uint64_t& bytes) { options.need_bytes = bytes; },
         "buffers that must be cycled without a drop, as 200MB (10^6), 64MiB (2^20): exit 1 if they cannot be")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, std::uint64_t>{{"B", 1},
                                                                             {"KB", 1'000U},
                                                                             {"MB", 1'000'000U},
                                                                             {"GB", 1'000'000'000U},
                                                                             {"KIB", 1U << 10U},
                                                                             {"MIB", 1U << 20U},
                                                                             {"GIB", 1U << 30U}}))
      ->check(CLI::PositiveNumber);
  app.add_option_function<std::string>(
         "--drop",
         [&options](const std::string& text) {
           try {
             options.drop = parse_fraction(text);
           } catch (const ConfigError& error) {
             throw CLI::ValidationError("--drop", error.what());
           }
         },
         "how far above the floor's time a dropped point is")
      ->default_str("10%");
}

}  // namespace mtuscope::cli
