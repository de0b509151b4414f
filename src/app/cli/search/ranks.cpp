#include "app/cli/search/ranks.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "app/mpi/ridge_mpi.h"

namespace ridge::cli {

namespace {

/// Ranks that whoever started this process says there are; 1 if nobody does.
int announced_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_SIZE", "PMI_SIZE"}) {
    const char* text = std::getenv(name);
    if (text != nullptr && *text != '\0') return std::atoi(text);
  }
  return 1;
}

}  // namespace

struct MpiRanks::Library {
  void* handle = nullptr;
  decltype(&ridge_mpi_start) start = nullptr;
  decltype(&ridge_mpi_next) next = nullptr;
  decltype(&ridge_mpi_gather) gather = nullptr;
  decltype(&ridge_mpi_end) end = nullptr;
};

Result<std::unique_ptr<MpiRanks>> MpiRanks::join() {
  if (announced_ranks() <= 1) return std::unique_ptr<MpiRanks>();
  namespace fs = std::filesystem;
  std::error_code absent;
  const fs::path folder = fs::read_symlink("/proc/self/exe", absent).parent_path();
  std::unique_ptr<MpiRanks> ranks(new MpiRanks());
  ranks->library_ = std::make_unique<Library>();
  Library& library = *ranks->library_;
  for (const fs::path& place : {folder / "libridge_mpi.so", folder.parent_path() / "lib" / "libridge_mpi.so"}) {
    // Global: MPI's own plug-ins look up its symbols.
    if (library.handle == nullptr) library.handle = dlopen(place.c_str(), RTLD_NOW | RTLD_GLOBAL);
  }
  if (library.handle == nullptr) {
    return Error{ErrorCode::refused, "mpirun",
                 std::string("libridge_mpi.so cannot be opened (") + dlerror() +
                     "): build where OpenMPI is installed, or use --shard and ridge plan merge"};
  }
  const auto look_up = [&](const char* name) { return dlsym(library.handle, name); };
  library.start = reinterpret_cast<decltype(library.start)>(look_up("ridge_mpi_start"));
  library.next = reinterpret_cast<decltype(library.next)>(look_up("ridge_mpi_next"));
  library.gather = reinterpret_cast<decltype(library.gather)>(look_up("ridge_mpi_gather"));
  library.end = reinterpret_cast<decltype(library.end)>(look_up("ridge_mpi_end"));
  if (library.start == nullptr || library.next == nullptr || library.gather == nullptr || library.end == nullptr) {
    return Error{ErrorCode::refused, "mpirun", "libridge_mpi.so is of another version"};
  }
  if (library.start(&ranks->rank_, &ranks->size_) != 0) {
    return Error{ErrorCode::refused, "mpirun", "MPI does not start"};
  }
  return ranks;
}

bool is_first_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"}) {
    const char* text = std::getenv(name);
    if (text != nullptr && *text != '\0') return std::string_view(text) == "0";
  }
  return true;
}

MpiRanks::~MpiRanks() {
  if (library_ && library_->end != nullptr && size_ > 1) library_->end();
}

long MpiRanks::next() const {
  return library_->next();
}

Status MpiRanks::gather(const std::string& bytes, const std::function<void(const std::string&)>& take) const {
  const auto hand_on = [](const char* data, std::size_t size, void* context) {
    (*static_cast<const std::function<void(const std::string&)>*>(context))(std::string(data, size));
  };
  auto copy = take;
  if (library_->gather(bytes.data(), bytes.size(), hand_on, &copy) != 0) {
    return Error{ErrorCode::refused, "mpirun", "what the ranks found could not be gathered"};
  }
  return {};
}

}  // namespace ridge::cli
