#include "app/cli/session/session.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "app/cli/session/interrupt.hpp"
#include "economics/economics_data.hpp"
#include "evidence/measured/device.hpp"
#include "evidence/measured/measurement.hpp"
#include "report/table/unicode.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "search/buyer/policy.hpp"

namespace ridge::cli {

namespace fs = std::filesystem;

int exit_code(ErrorCode code) {
  switch (code) {
    case ErrorCode::bad_input:
    case ErrorCode::not_found:
      return kBadInput;
    case ErrorCode::refused:
    case ErrorCode::infeasible:
      return kRefused;
  }
  return kBadInput;
}

Surroundings look_around() {
  Surroundings found;
  std::error_code failure;
  found.program = fs::read_symlink("/proc/self/exe", failure).string();
  if (const char* data = std::getenv("RIDGE_DATA"); data != nullptr && *data != '\0') found.data_variable = data;
  // A width that somebody exports holds for files and pipes, too; a terminal knows its own.
  if (const char* columns = std::getenv("COLUMNS"); columns != nullptr) {
    constexpr int kWidest = 10'000;
    const int asked = std::atoi(columns);  // 0, no limit, for what is no number
    if (asked > 0 && asked <= kWidest) found.width = asked;
  }
  // The terminal of a rank is one that mpirun made, whatever reads in the end.
  const bool is_rank = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  if (!is_rank && isatty(STDOUT_FILENO) != 0) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) found.width = size.ws_col;
    const char* no_colour = std::getenv("NO_COLOR");
    const char* terminal = std::getenv("TERM");
    const bool dumb = terminal == nullptr || std::string_view(terminal) == "dumb";
    found.colour = !dumb && (no_colour == nullptr || *no_colour == '\0');
  }
  return found;
}

Result<std::string> find_data_directory(const std::string& option, const Surroundings& surroundings) {
  // What the user named is taken at its word, so that a misspelt path is not silently replaced by other data.
  if (!option.empty()) return option;
  if (surroundings.data_variable) return *surroundings.data_variable;
  std::error_code absent;
  std::string tried;
  if (!surroundings.program.empty()) {
    const fs::path installed = fs::path(surroundings.program).parent_path().parent_path() / "share" / "ridgeline";
    if (fs::is_directory(installed, absent)) return installed.string();
    tried = installed.string() + " and ";
  }
  if (fs::is_directory(RIDGE_SOURCE_DATA, absent)) return std::string(RIDGE_SOURCE_DATA);
  return Error{
      ErrorCode::not_found, "",
      "there is no catalogue: looked for " + tried + RIDGE_SOURCE_DATA + "; name one by --data DIR or $RIDGE_DATA"};
}

Session::Session(GlobalOptions options, Surroundings surroundings)
    : options_(std::move(options)), surroundings_(std::move(surroundings)), own_(std::make_unique<StopSign>()) {
  // Both were read when the line was.
  if (const auto limit = parse_quantity<Seconds>(options_.time_limit); limit) {
    own_->deadline = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                         std::chrono::duration<double>(std::min(limit->value(), limits::kTimeLimit.most)));
  }
  if (const auto limit = parse_quantity<Bytes>(options_.memory_limit); limit) own_->most_memory = limit->value();
}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

Session::Session(GlobalOptions options, Surroundings surroundings, const SharedData& shared, std::string& into,
                 const StopSign& stop, Files files)
    : Session(std::move(options), std::move(surroundings)) {
  data_ = shared;
  names_ = shared.catalogue;
  if (!options_.overlays.empty()) names_.reset();
  if (!options_.settings.empty() || !options_.overlays.empty() || !options_.price_lists.empty()) forget_catalogue();
  if (!options_.calibrations.empty()) data_.calibration.reset();
  into_ = &into;
  if (files == Files::refused) {
    const Result<std::string> below = data_directory();
    files_ = FileAccess::below(below ? *below : std::string());
  }
  stop_ = &stop;
}

Form Session::form() const {
  if (options_.json) return Form::json;
  if (options_.csv) return Form::csv;
  return options_.markdown ? Form::markdown : Form::terminal;
}

TerminalStyle Session::style() const {
  return {.width = surroundings_.width, .colour = surroundings_.colour && !options_.no_colour};
}

Result<const Catalogue*> Session::catalogue() {
  if (!data_.catalogue) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    Result<std::vector<OverlayText>> settings = what_if(options_.settings, subjects_);
    if (!settings) return settings.error();
    std::vector<OverlayText> texts;
    for (const Measured& m : measured_) texts.push_back(m.overlay);
    texts.insert(texts.end(), settings->begin(), settings->end());
    Result<Catalogue> loaded = Catalogue::load({.data_directory = *directory,
                                                .overlays = options_.overlays,
                                                .price_lists = options_.price_lists,
                                                .texts = std::move(texts)});
    if (!loaded) return what_if_error(loaded.error());
    data_.catalogue = std::make_shared<const Catalogue>(std::move(*loaded));
    for (const std::string& remark : data_.catalogue->remarks()) warn(remark);
  }
  return data_.catalogue.get();
}

Result<const Catalogue*> Session::names() {
  if (data_.catalogue) return data_.catalogue.get();
  if (options_.settings.empty()) return catalogue();
  if (!names_) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    Result<Catalogue> loaded =
        Catalogue::load({.data_directory = *directory, .overlays = options_.overlays, .price_lists = {}, .texts = {}});
    if (!loaded) return loaded.error();
    names_ = std::make_shared<const Catalogue>(std::move(*loaded));
  }
  return names_.get();
}

Result<const Engines*> Session::engines() {
  if (!data_.engines) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    Result<Engines> loaded = load_engines(*directory + "/engines");
    if (!loaded) return loaded.error();
    data_.engines = std::make_shared<const Engines>(std::move(*loaded));
  }
  return data_.engines.get();
}

Result<const Calibration*> Session::calibration() {
  if (!data_.calibration) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    Result<Calibration> loaded = load_calibration(*directory + "/calibration", options_.calibrations);
    if (!loaded) return loaded.error();
    data_.calibration = std::make_shared<const Calibration>(std::move(*loaded));
    for (const Measured& m : measured_) {
      const Result<const Catalogue*> with = catalogue();
      if (!with) return with.error();
      const Result<const Engines*> known = engines();
      if (!known) return known.error();
      Result<evidence::MeasuredFit> fit = evidence::fit_measured(*m.profile, m.id, *data_.calibration, **with, **known);
      if (!fit) return Error{fit.error().code, m.path, fit.error().message};
      data_.calibration = std::make_shared<const Calibration>(std::move(fit->calibration));
    }
  }
  return data_.calibration.get();
}

Result<SharedData> Session::share() {
  if (const auto read = catalogue(); !read) return read.error();
  if (const auto read = engines(); !read) return read.error();
  if (const auto read = calibration(); !read) return read.error();
  (void)economics();
  (void)facility();
  (void)policy();
  return data_;
}

void Session::catch_interrupts() const {
  if (!is_called()) cli::catch_interrupts();
}

double memory_in_use() {
  constexpr std::int64_t kBetween = 50'000'000;  // ns
  static std::atomic<std::int64_t> next_look{0};
  static std::atomic<double> seen{0};
  const std::int64_t now = std::chrono::steady_clock::now().time_since_epoch().count();
  std::int64_t due = next_look.load(std::memory_order_relaxed);
  if (now >= due && next_look.compare_exchange_strong(due, now + kBetween)) {
    long all = 0;
    long resident = 0;
    if (std::FILE* file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
      if (std::fscanf(file, "%ld %ld", &all, &resident) == 2) seen = static_cast<double>(resident) * getpagesize();
      std::fclose(file);
    }
  }
  return seen;
}

std::string_view StopSign::why() const {
  using Clock = std::chrono::steady_clock;
  const char* why = said.load(std::memory_order_relaxed);
  if (why == nullptr) {
    if (raised) why = "it was ended";
    if (left != nullptr && *left) why = "whoever asked has left";
    if (deadline != Clock::time_point::max() && Clock::now() >= deadline) why = "its time is over";
    if (std::isfinite(most_memory) && memory_in_use() > most_memory) why = "its memory is used up";
    if (why == nullptr) return {};
    said = why;
  }
  return why;
}

std::string_view Session::why_stopped() const {
  if (interrupted()) return "it was interrupted";
  if (const std::string_view why = own_->why(); !why.empty()) return why;
  return stop_ != nullptr ? stop_->why() : std::string_view();
}

Status Session::in_time() const {
  const std::string_view why = why_stopped();
  if (why.empty()) return {};
  return Error{ErrorCode::refused, "",
               "no answer: " + std::string(why) + "; ask for less, or give it more by --time-limit or --memory-limit"};
}

void Session::forget_catalogue() {
  data_.catalogue.reset();
  data_.economics.reset();
  data_.facility.reset();
}

Result<const FacilityData*> Session::facility() {
  if (!data_.facility) {
    const Result<const Catalogue*> known = names();
    if (!known) return known.error();
    Result<FacilityData> loaded = load_facility(*data_directory() + "/facility", **known);
    if (!loaded) return loaded.error();
    data_.facility = std::make_shared<const FacilityData>(*std::move(loaded));
  }
  return data_.facility.get();
}

Result<const EconomicsData*> Session::economics() {
  if (!data_.economics) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    const Result<const Catalogue*> known = catalogue();
    if (!known) return known.error();
    Result<EconomicsData> loaded = load_economics(*directory + "/economics", **known);
    if (!loaded) return loaded.error();
    data_.economics = std::make_shared<const EconomicsData>(*std::move(loaded));
  }
  return data_.economics.get();
}

Result<const search::Policy*> Session::policy() {
  if (!data_.policy) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    Result<search::Policy> loaded = search::load_policy(*directory + "/policy");
    if (!loaded) return loaded.error();
    data_.policy = std::make_shared<const search::Policy>(*std::move(loaded));
  }
  return data_.policy.get();
}

Result<std::string> Session::use_profile(const std::string& path) {
  constexpr std::size_t kProfileLimit = 16u << 20;
  if (!may_name_files()) return Error{ErrorCode::bad_input, "--device", "names a file: name a device"};
  for (const Measured& m : measured_) {
    if (m.path == path) return m.id;
  }
  const Result<std::string> text = files_.read(path, kProfileLimit);
  if (!text) return text.error();
  Result<measure::Profile> profile = evidence::read_measurement(*text, path);
  if (!profile) return profile.error();
  const Result<std::string> directory = data_directory();
  if (!directory) return directory.error();
  const Result<Catalogue> plain =
      Catalogue::load({.data_directory = *directory, .overlays = options_.overlays, .price_lists = {}, .texts = {}});
  if (!plain) return plain.error();
  const Result<std::string> id = evidence::device_like(*profile, *plain);
  if (!id) return Error{id.error().code, path, id.error().text()};
  const Device& device = *plain->device(*id);
  for (const Measured& m : measured_) {
    if (plain->device(m.id)->architecture != device.architecture) continue;
    return Error{ErrorCode::bad_input, path,
                 "two profiles of one architecture cannot be used at once: " + m.path + " is one already"};
  }
  OverlayText overlay = evidence::measured_overlay(*profile, device);
  measured_.push_back({path, *id, std::make_unique<measure::Profile>(*std::move(profile)), std::move(overlay)});
  forget_catalogue();
  data_.calibration.reset();
  return *id;
}

std::vector<std::string> Session::profiles() const {
  std::vector<std::string> paths;
  for (const Measured& m : measured_) paths.push_back(m.path);
  return paths;
}

std::vector<std::string> Session::measured() const {
  std::vector<std::string> sentences;
  for (const Measured& m : measured_) {
    sentences.push_back(m.id + " as measured: " + m.path + " of " +
                        m.profile->date.substr(0, std::string_view("2026-11-15").size()));
  }
  return sentences;
}

void Session::print(std::string_view text) const {
  if (into_ != nullptr) {
    *into_ += text.starts_with('{') ? phrased_in_json(text, voice()) : phrased(text, voice());
    return;
  }
  const std::string said = phrased(text, voice());
  std::fwrite(said.data(), 1, said.size(), stdout);
}

void Session::print(const Document& document) const {
  print(form() == Form::markdown ? to_markdown(document) : to_terminal(document, style()));
}

void Session::warn(std::string_view text) const {
  if (into_ != nullptr) return;
  // Files and servers have their say in it: their control characters move no cursor here.
  const std::string said = phrased(text, voice());
  std::string out = "ridge: ";
  for (std::size_t at = 0; at <= said.size();) {
    const std::size_t end = std::min(said.find('\n', at), said.size());
    out += printable(std::string_view(said).substr(at, end - at)) + "\n";
    at = end + 1;
  }
  std::fwrite(out.data(), 1, out.size(), stderr);
}

}  // namespace ridge::cli
