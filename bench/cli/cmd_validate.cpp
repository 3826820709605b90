#include <filesystem>
#include <fstream>
#include <system_error>

#include "commands.hpp"
#include "mtuscope/core/error.hpp"
#include "mtuscope/core/printable.hpp"
#include "mtuscope/records/json.hpp"

namespace mtuscope::cli {

ExitCode run_validate(const ValidateOptions& options, const CommandContext& context) {
  auto code = ExitCode::ok;
  for (const auto& name : options.files) {
    try {
      std::ifstream file{name, std::ios::binary};
      std::error_code ignored;  // what cannot be looked up could not be opened either
      if (std::filesystem::is_directory(name, ignored)) throw ConfigError{name + ": is a folder: name its files"};
      if (!file) throw ConfigError{name + ": cannot be opened: check the name and its permissions"};
      records::validate(file, name);
      context.console.say(printable(name) + ": valid\n");
    } catch (const std::runtime_error& error) {  // SchemaError, ConfigError, RunError: the other files still count
      Console::complain(error.what());
      code = ExitCode::usage;
    }
  }
  return code;
}

}  // namespace mtuscope::cli
