#include "rank_arguments.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "mtuscope/core/error.hpp"
#include "mtuscope/launch/process.hpp"

namespace mtuscope::cli {
namespace {

constexpr std::string_view kRankWord = "{rank}";
constexpr std::string_view kHostWord = "{host}";
constexpr std::string_view kEnvOption = "--env";
constexpr std::string_view kFileOption = "--options-file";
constexpr std::size_t kMaxWords = 10'000;

void replace_all(std::string& text, std::string_view word, const std::string& value) {
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + value.size())) {
    text.replace(at, word.size(), value);
  }
}

void set_variable(const std::string& assignment) {
  const auto equals = assignment.find('=');
  if (equals == 0 || equals == std::string::npos) {
    throw ConfigError{"--env: \"" + assignment + "\" is not NAME=VALUE"};
  }
  // NOLINTNEXTLINE(concurrency-mt-unsafe): before any thread
  if (::setenv(assignment.substr(0, equals).c_str(), assignment.substr(equals + 1).c_str(), 1) != 0) {
    throw SystemError{"--env: cannot set " + assignment, errno};
  }
}

std::vector<std::string> replace_names(std::vector<std::string> arguments, const RankName& name) {
  for (auto& argument : arguments) {
    if (argument.find(kRankWord) != std::string::npos && !name.rank) {
      throw ConfigError{argument + ": this launcher does not tell the rank before MPI starts; write {host} instead"};
    }
    if (name.rank) replace_all(argument, kRankWord, std::to_string(*name.rank));
    replace_all(argument, kHostWord, name.host);
  }
  return arguments;
}

std::vector<std::string> words_of(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw ConfigError{"--options-file: cannot read " + path + ": " + error_text(errno)};
  std::vector<std::string> words;
  std::size_t number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      for (auto& word : launch::split_command(line)) words.push_back(std::move(word));
    } catch (const ConfigError& error) {
      throw ConfigError{"--options-file: " + path + " line " + std::to_string(number) + ": " + error.what()};
    }
    if (words.size() > kMaxWords) throw ConfigError{"--options-file: " + path + " is too long for options"};
  }
  return words;
}

/// The words of an options file in its place. Names of files in it are left alone.
std::vector<std::string> with_files(const std::vector<std::string>& arguments) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    std::string path;
    if (arguments[i] == kFileOption && i + 1 < arguments.size()) path = arguments[++i];
    if (arguments[i].starts_with(std::string{kFileOption} + "=")) path = arguments[i].substr(kFileOption.size() + 1);
    if (path.empty()) {
      all.push_back(arguments[i]);
      continue;
    }
    for (auto& word : words_of(path)) all.push_back(std::move(word));
  }
  return all;
}

}  // namespace

RankName rank_name() {
  RankName name;
  for (const auto* variable :
       {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK", "SLURM_PROCID"}) {
    const char* text = std::getenv(variable);  // NOLINT(concurrency-mt-unsafe): before any thread
    if (text == nullptr) continue;
    int rank = 0;
    const auto [end, error] = std::from_chars(text, text + std::strlen(text), rank);
    if (error != std::errc{} || *end != '\0' || rank < 0) continue;
    name.rank = rank;
    break;
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) name.host = host.data();
  name.host = name.host.substr(0, name.host.find('.'));
  return name;
}

std::vector<std::string> expand(const std::vector<std::string>& arguments, const RankName& name) {
  return replace_names(with_files(replace_names(arguments, name)), name);
}

bool has_own_options(const std::vector<std::string>& arguments) {
  return std::any_of(arguments.begin(), arguments.end(),
                     [](const std::string& argument) { return argument.starts_with(kFileOption); });
}

void set_environment(const std::vector<std::string>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view argument{arguments[i]};
    if (argument == kEnvOption && i + 1 < arguments.size()) set_variable(arguments[++i]);
    if (argument.starts_with(std::string{kEnvOption} + "=")) {
      set_variable(std::string{argument.substr(kEnvOption.size() + 1)});
    }
  }
}

}  // namespace mtuscope::cli
