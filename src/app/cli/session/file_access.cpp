#include "app/cli/session/file_access.hpp"

#include <filesystem>
#include <utility>

#include "app/cli/session/wrong.hpp"
#include "ridge/base/file.hpp"

namespace ridge::cli {

FileAccess FileAccess::below(std::string folder) {
  FileAccess access;
  access.free_ = false;
  access.folder_ = std::move(folder);
  return access;
}

Status FileAccess::may_read(const std::string& path) const {
  namespace fs = std::filesystem;
  if (free_) return {};
  std::error_code error;
  const fs::path root = fs::weakly_canonical(folder_, error);
  const fs::path asked = error ? fs::path() : fs::weakly_canonical(path, error);
  const fs::path inside = error ? fs::path() : asked.lexically_relative(root);
  const bool below = !folder_.empty() && !inside.empty() && !inside.is_absolute() && *inside.begin() != "..";
  return below ? Status() : Status(wrong(path, "is a file, and whoever asks from elsewhere may name none"));
}

Result<std::string> FileAccess::read(const std::string& path, std::size_t max_bytes) const {
  if (const Status s = may_read(path); !s) return s.error();
  return read_file(path, max_bytes);
}

Status FileAccess::write(const std::string& path, std::string_view text) const {
  if (!free_) return wrong(path, "is a file, and whoever asks from elsewhere may write none");
  return write_file_atomically(path, text);
}

Status FileAccess::make_folder(const std::string& path) const {
  if (!free_) return wrong(path, "is a folder, and whoever asks from elsewhere may make none");
  std::error_code failure;
  std::filesystem::create_directories(path, failure);
  return failure ? Status(wrong(path, "cannot be made: " + failure.message())) : Status();
}

}  // namespace ridge::cli
