// --device profile.toml: a measured device in the place of one of the catalogue.
//
//   words = {"estimate", "infer", "--device", "mine.toml,h100-sxm"};
//   Result<std::vector<std::string>> plain = with_profiles(words, session);   // ... "--device", "h200-sxm,h100-sxm"
//
// Every word that ends in .toml after --device is read as a profile of ridge-measure and handed to the session; the
// device's id takes its place. Refuses what Session::use_profile() refuses.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/cli/command_line.hpp"
#include "app/cli/session.hpp"

namespace ridge::cli {

[[nodiscard]] bool names_profile(const std::vector<std::string>& words);
Result<std::vector<std::string>> with_profiles(std::vector<std::string> words, Session& session);

/// The command of a line, whose options made the session, read again with measured devices in their places; as it was
/// if the line names none.
Result<Command> measured_command(Command command, const std::vector<std::string>& words, std::span<const Verb> verbs,
                                 Session& session);

}  // namespace ridge::cli
