#include "record_header.hpp"

#include <array>
#include <ctime>

#include "mtuscope/core/version.hpp"

namespace mtuscope::cli {
namespace {

std::string utc_now() {
  const auto now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

records::RecordHeader make_header(const Backend& backend, const sweep::SweepSpec& spec, const Environment& environment,
                                  const CommandContext& context) {
  records::RecordHeader header;
  header.source = backend.source();
  header.backend = backend.name();
  header.created_utc = utc_now();
  header.mtuscope_version = kVersion;
  header.git_revision = kGitRevision;
  header.command_line = context.command_line;
  header.spec = spec;
  header.initiator = environment;
  return header;
}

}  // namespace mtuscope::cli
