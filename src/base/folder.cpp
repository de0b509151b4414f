#include "ridge/base/folder.hpp"

#include <algorithm>
#include <filesystem>

namespace ridge {

Result<std::vector<std::string>> files_in(const std::string& folder, std::string_view extension) {
  namespace fs = std::filesystem;
  std::error_code failure;
  std::vector<std::string> paths;
  for (fs::directory_iterator at(folder, failure), end; !failure && at != end; at.increment(failure)) {
    if (at->path().extension() == extension) paths.push_back(at->path().string());
  }
  if (failure) return Error{ErrorCode::not_found, folder, "cannot be read: " + failure.message()};
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace ridge
