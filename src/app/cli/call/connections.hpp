// Connections are files, of which shells allow few.
#pragma once

#include <sys/resource.h>

#include <algorithm>

namespace ridge::cli {

/// Lets the process have as many connections at once as a benchmark needs, if the system does.
inline void allow_connections() {
  constexpr rlim_t kConnections = 20'500;
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kConnections) return;
  limit.rlim_cur = std::min<rlim_t>(kConnections, limit.rlim_max);
  setrlimit(RLIMIT_NOFILE, &limit);
}

}  // namespace ridge::cli
