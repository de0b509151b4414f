// Words of commands that people copy into a shell.
//
//   shell_word("llama3.1-8b");            // llama3.1-8b
//   shell_word("my models/$(id)");        // 'my models/$(id)'
//
// Pure; any thread.
#pragma once

#include <string>
#include <string_view>

namespace ridge {

/// The word as a shell has to be told it, whatever stands in it: between quotes unless all of it is plain.
[[nodiscard]] std::string shell_word(std::string_view text);

}  // namespace ridge
