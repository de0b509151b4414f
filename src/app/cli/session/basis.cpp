#include "app/cli/session/basis.hpp"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "base/digest.hpp"
#include "ridge/base/file.hpp"

namespace ridge::cli {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kFileLimit = 256u << 20;

/// The build id of the object (the program, or the library in it) that holds this code.
struct Notes {
  ElfW(Addr) inside = 0;
  std::string id;
};

int look_for_id(dl_phdr_info* info, std::size_t /*size*/, void* into) {
  auto& notes = *static_cast<Notes*>(into);
  bool mine = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    const ElfW(Addr) begin = info->dlpi_addr + header.p_vaddr;
    mine = mine || (header.p_type == PT_LOAD && begin <= notes.inside && notes.inside < begin + header.p_memsz);
  }
  if (!mine) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& header = info->dlpi_phdr[i];
    if (header.p_type != PT_NOTE) continue;
    const char* at = reinterpret_cast<const char*>(info->dlpi_addr + header.p_vaddr);
    const char* end = at + header.p_memsz;
    const auto aligned = [](std::size_t size) { return (size + 3) & ~std::size_t{3}; };
    while (at + sizeof(ElfW(Nhdr)) <= end) {
      ElfW(Nhdr) note;
      std::memcpy(&note, at, sizeof note);
      const char* bytes = at + sizeof note + aligned(note.n_namesz);
      if (bytes + note.n_descsz > end) break;
      if (note.n_type == NT_GNU_BUILD_ID) notes.id = Digest().add(std::string_view(bytes, note.n_descsz)).hex();
      at = bytes + aligned(note.n_descsz);
    }
  }
  return 1;
}

Status add_file(Digest& digest, const std::string& path, std::string_view as) {
  const Result<std::string> text = read_file(path, kFileLimit);
  if (!text) return text.error();
  digest.add(as).add(*text);
  return {};
}

/// Files and folders below `root`, in one order on every machine. What is not there adds nothing.
Result<std::string> of_data(const std::string& root, std::initializer_list<const char*> names,
                            const std::vector<std::string>& besides = {}) {
  Digest digest;
  for (const char* name : names) {
    std::vector<std::string> files;
    std::error_code failure;
    const fs::path path = fs::path(root) / name;
    if (fs::is_regular_file(path, failure)) files.push_back(path.string());
    if (fs::is_directory(path, failure)) {
      for (auto at = fs::recursive_directory_iterator(path, failure); !failure && at != fs::end(at);
           at.increment(failure)) {
        if (at->is_regular_file(failure)) files.push_back(at->path().string());
      }
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) {
      if (const Status s = add_file(digest, file, fs::relative(file, root, failure).string()); !s) return s.error();
    }
  }
  // In the order in which they were given: of two that say the same, the later one counts.
  for (const std::string& file : besides) {
    if (const Status s = add_file(digest, file, ""); !s) return s.error();
  }
  return digest.hex();
}

}  // namespace

std::string program_id() {
  Notes notes;
  notes.inside = reinterpret_cast<ElfW(Addr)>(&program_id);
  dl_iterate_phdr(look_for_id, &notes);
  return notes.id.empty() ? Digest().add(std::string_view(RIDGE_VERSION)).hex() : notes.id;
}

Result<std::vector<search::Basis>> plan_basis(const Session& session, const std::string& model) {
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  std::vector<std::string> models;
  fs::path path(model);
  std::error_code absent;
  if (fs::is_directory(path, absent)) path /= "config.json";
  if (fs::is_regular_file(path, absent)) models.push_back(path.string());

  const GlobalOptions& options = session.options();
  std::vector<std::string> catalogue = options.overlays;
  for (const std::string& profile : session.profiles()) catalogue.push_back(profile);
  std::vector<search::Basis> basis = {{"program", program_id()}};
  const auto add = [&](const char* name, const Result<std::string>& digest) -> Status {
    if (!digest) return digest.error();
    basis.push_back({name, *digest});
    return {};
  };
  const auto of = [&](std::initializer_list<const char*> names, const std::vector<std::string>& besides = {}) {
    return of_data(*data, names, besides);
  };
  for (const Status& s :
       {add("catalogue", of({"devices", "systems", "fabrics", "sources", "architectures.toml"}, catalogue)),
        add("list of prices", of({"prices"}, options.price_lists)), add("model", of({"models"}, models)),
        add("calibration", of({"calibration"}, options.calibrations)), add("set of engines", of({"engines"})),
        add("set of rules", of({"policy", "buyers"})), add("economics", of({"economics"}))}) {
    if (!s) return s.error();
  }
  return basis;
}

}  // namespace ridge::cli
