#include <fstream>

#include "commands.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/records/json.hpp"

namespace mtuscope::cli {

ExitCode run_validate(const ValidateOptions& options, const CommandContext& context) {
  auto code = ExitCode::ok;
  for (const auto& name : options.files) {
    try {
      std::ifstream file{name, std::ios::binary};
      if (!file) throw ConfigError{name + ": cannot be opened: check the name and its permissions"};
      records::validate(file, name);
      context.console.say(name + ": valid\n");
    } catch (const std::runtime_error& error) {  // SchemaError, ConfigError, RunError: the other files still count
      Console::complain(error.what());
      code = ExitCode::usage;
    }
  }
  return code;
}

}  // namespace mtuscope::cli
