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

void add_number(CLI::App& app, const std::string& names, const std::string& help,
                std::function<void(std::uint64_t)> set, OptionRange range, const std::string& default_text) {
  auto* option = app.add_option_function<std::uint64_t>(names, set, help)->check(CLI::Range(range.first, range.second));
  if (!default_text.empty()) option->default_str(default_text);
}

}  // namespace mtuscope::cli
