// Which files whoever asks may read and write: made by the session, handed down, asked every time.
//
//   Result<std::string> text = session.files().read(path, 16 << 20);
//   Status written = session.files().write("plan.html", page);
//
// People, C and Python are at home on this machine and may name any file; who asks over HTTP may read what is below the
// data folder, through links or not, and write nothing. Refusals (bad_input) name the path and tell nothing of whether
// it exists. A value; any thread.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "ridge/base/result.hpp"

namespace ridge::cli {

class FileAccess {
 public:
  /// Any file.
  FileAccess() = default;
  /// Only what is below the folder, and only to read.
  static FileAccess below(std::string folder);

  [[nodiscard]] bool is_free() const { return free_; }
  /// Refuses a path that may not be read.
  [[nodiscard]] Status may_read(const std::string& path) const;
  /// As ridge::read_file() and write_file_atomically().
  [[nodiscard]] Result<std::string> read(const std::string& path, std::size_t max_bytes) const;
  [[nodiscard]] Status write(const std::string& path, std::string_view text) const;
  /// Makes the folder and those above it, where they are not there.
  [[nodiscard]] Status make_folder(const std::string& path) const;

 private:
  bool free_ = true;
  std::string folder_;
};

}  // namespace ridge::cli
