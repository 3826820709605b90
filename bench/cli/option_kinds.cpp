#include "option_kinds.hpp"

#include <CLI/CLI.hpp>

#include "mtuscope/core/error.hpp"

namespace mtuscope::cli {

CLI::Option* add_parsed(CLI::App& app, const std::string& names, const std::string& help,
                        std::function<void(const std::string&)> parser) {
  return app.add_option_function<std::string>(
      names,
      [names, parser = std::move(parser)](const std::string& text) {
        try {
          parser(text);
        } catch (const ConfigError& error) {
          throw CLI::ValidationError(names.substr(names.find("--"), names.substr(names.find("--")).find(',')),
                                     error.what());
        }
      },
      help);
}

CLI::Option* add_number(CLI::App& app, const std::string& names, const std::string& help,
                        const std::function<void(std::uint64_t)>& set, OptionRange range) {
  return app.add_option_function<std::uint64_t>(names, set, help)->check(CLI::Range(range.first, range.second));
}

void show_default(CLI::Option& option, const std::string& text) { option.default_str(text); }

}  // namespace mtuscope::cli
