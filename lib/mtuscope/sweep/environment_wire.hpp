#pragma once
#include "mtuscope/core/environment.hpp"
#include "mtuscope/transport/wire.hpp"

namespace mtuscope::sweep {

/// An Environment as it travels in a hello; lists are bounded on the way in. Reading throws PeerError on anything odd.
void put_environment(WireWriter& writer, const Environment& environment);
[[nodiscard]] Environment get_environment(WireReader& reader);

}  // namespace mtuscope::sweep
