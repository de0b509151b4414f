// --device profile.toml: a measured device in the place of one of the catalogue.
//
//   if (const Status s = use_profiles(options, session); !s) return s.error();   // --device mine.toml,h100-sxm
//
// Every part of --device that ends in .toml is read as a profile of ridge-measure and handed to the session; the
// device's id takes its place. Refuses what Session::use_profile() refuses.
#pragma once

#include "app/cli/line/options.hpp"
#include "app/cli/session/session.hpp"

namespace ridge::cli {

[[nodiscard]] Status use_profiles(Options options, Session& session);

}  // namespace ridge::cli
