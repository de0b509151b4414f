// Other programs of this machine: where they are, and running one.
//
//   const std::string browser = find_program({"chromium", "google-chrome"});
//   if (!browser.empty()) run_program(browser, {"--version"});
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge::cli {

/// The first of the names that $PATH, or `beside` if it is given, leads to; empty if none does.
[[nodiscard]] std::string find_program(std::initializer_list<std::string_view> names, const std::string& beside = {});

enum class Sound : bool { heard, silent };

/// Runs it in the foreground, its own output shown or thrown away, and returns its exit code. Refuses what cannot be
/// started and what a signal ended.
Result<int> run_program(const std::string& program, const std::vector<std::string>& words, Sound sound = Sound::heard);

}  // namespace ridge::cli
