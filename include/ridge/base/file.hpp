// Files in one piece.
//
//   Result<std::string> text = read_file("data/sources.toml", 16 << 20);
//   if (!text) return text.error();                      // "data/sources.toml: there is no such file"
//   Status written = write_file_atomically("plan.json", json);
//
// Both block until done and may be called from any thread. Errors carry the path in `where`.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ridge/base/result.hpp"

namespace ridge {

/// The bytes of a file, or of a pipe up to its end. Refuses a path that does not exist (not_found), a directory, what
/// may not be read, and more than `max_bytes` (without reading the rest).
Result<std::string> read_file(const std::string& path, std::size_t max_bytes);

/// Puts `text` at `path` so that a reader, or a machine that fails, sees the old file or the new one and nothing
/// between: writes beside it, flushes to the disk, renames. Follows a symbolic link and keeps the permissions of a file
/// that is replaced. Refuses a directory or device, a folder that does not exist (not_found) or may not be written, a
/// full disk; then the old file is untouched and nothing is left beside it.
Status write_file_atomically(const std::string& path, std::string_view text);

}  // namespace ridge
