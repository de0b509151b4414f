#include "ridge/base/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "ridge/base/text.hpp"

namespace ridge {

namespace {

/// Closes on the way out.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] bool close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

Error failure(const std::string& path, int code, const char* doing) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  std::string why = std::generic_category().message(code);
  if (code == ENOENT) why = "there is no such file or folder";
  if (code == EACCES) why = "permission denied";
  if (code == ENOSPC) why = "the disk is full";
  return {missing ? ErrorCode::not_found : ErrorCode::bad_input, path, std::string(doing) + ": " + why};
}

Error too_large(const std::string& path, std::size_t max_bytes) {
  return {ErrorCode::bad_input, path,
          "the file is larger than the limit of " + format_number(static_cast<double>(max_bytes)) + " bytes"};
}

ssize_t retried_read(int fd, char* data, std::size_t size) {
  for (;;) {
    const ssize_t n = ::read(fd, data, size);
    if (n >= 0 || errno != EINTR) return n;
  }
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno != EINTR) return false;
    if (n > 0) text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

/// Where a chain of symbolic links ends, so that the link itself survives.
std::string target_of(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_symlink(path, ignored)) return path;
  const auto target = std::filesystem::canonical(path, ignored);
  return ignored ? path : target.string();
}

std::string folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

}  // namespace

Result<std::string> read_file(const std::string& path, std::size_t max_bytes) {
  if (path.empty()) return Error{ErrorCode::bad_input, "", "the name of the file is empty"};
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (file.get() < 0 || ::fstat(file.get(), &status) != 0) return failure(path, errno, "cannot be read");
  if (S_ISDIR(status.st_mode)) return Error{ErrorCode::bad_input, path, "this is a folder, a file is needed"};
  const bool regular = S_ISREG(status.st_mode);
  const auto announced = regular ? static_cast<std::uint64_t>(status.st_size) : 0;
  if (announced > max_bytes) return too_large(path, max_bytes);

  // One byte more than announced, so that the end of an ordinary file shows in the first read.
  constexpr std::size_t kChunk = 64 << 10;
  std::string text;
  std::size_t filled = 0;
  text.resize(regular ? static_cast<std::size_t>(announced) + 1 : kChunk);
  for (;;) {
    const ssize_t n = retried_read(file.get(), text.data() + filled, text.size() - filled);
    if (n < 0) return failure(path, errno, "cannot be read");
    filled += static_cast<std::size_t>(n);
    if (filled > max_bytes) return too_large(path, max_bytes);
    if (n == 0) break;
    if (filled == text.size()) text.resize(text.size() + std::max(kChunk, text.size()));
  }
  text.resize(filled);
  return text;
}

Status write_file_atomically(const std::string& path, std::string_view text) {
  constexpr const char* kDoing = "cannot be written";
  if (path.empty()) return Error{ErrorCode::bad_input, "", "the name of the file is empty"};
  const std::string target = target_of(path);
  mode_t mode = 0;
  if (struct stat existing{}; ::stat(target.c_str(), &existing) == 0) {
    if (!S_ISREG(existing.st_mode)) {
      const char* what = S_ISDIR(existing.st_mode) ? "folder" : "device or pipe";
      return Error{ErrorCode::bad_input, path, "this is a " + std::string(what) + ", a file is needed"};
    }
    mode = existing.st_mode & 07777;
  }

  static std::atomic<unsigned> counter{0};
  std::string temporary;
  int fd = -1;
  do {  // a name left over from a process that died is passed over
    temporary = target + ".tmp" + std::to_string(::getpid()) + "-" + std::to_string(++counter);
    fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EEXIST);
  if (fd < 0) return failure(path, errno, kDoing);

  Descriptor file(fd);
  const bool written = (mode == 0 || ::fchmod(fd, mode) == 0) && write_all(fd, text) && ::fsync(fd) == 0 &&
                       file.close() && ::rename(temporary.c_str(), target.c_str()) == 0;
  if (!written) {
    const int code = errno;
    ::unlink(temporary.c_str());
    return failure(path, code, kDoing);
  }
  // The rename itself is on the disk only once the folder is; some file systems cannot do this, and need not.
  const Descriptor folder(::open(folder_of(target).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
  return {};
}

}  // namespace ridge
