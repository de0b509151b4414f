// What a shell may offer for the word under the cursor. The scripts of `ridge completion` only ask
// `ridge __complete WORD...` and hand on what it prints, so that nothing is said twice.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/line/options.hpp"
#include "app/cli/session/session.hpp"

namespace ridge::cli {

inline constexpr std::string_view kCompleteWord = "__complete";
/// Offers that ask the shell for its own paths.
inline constexpr std::string_view kOfferFiles = "@files";
inline constexpr std::string_view kOfferDirectories = "@directories";

/// `words` are those after the program's name; the last one, possibly empty, is to be completed. Each offer is once
/// there, in the order of help and catalogue. Nothing is an error here: what cannot be understood has no offers.
[[nodiscard]] std::vector<std::string> complete(const std::vector<std::string>& words, std::span<const Verb> verbs,
                                                const Surroundings& surroundings);

}  // namespace ridge::cli
