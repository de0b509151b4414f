#include "app/cli/session.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "app/cli/interrupt.hpp"
#include "evidence/measured_device.hpp"
#include "evidence/measurement.hpp"
#include "ridge/file.hpp"

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
  if (isatty(STDOUT_FILENO) != 0) {
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) found.width = size.ws_col;
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
    : options_(std::move(options)), surroundings_(std::move(surroundings)) {}
Session::Session(Session&&) noexcept = default;
Session::~Session() = default;

Session::Session(GlobalOptions options, Surroundings surroundings, const SharedData& shared, std::string& into,
                 const StopSign& stop, Files files)
    : Session(std::move(options), std::move(surroundings)) {
  data_ = shared;
  if (!options_.settings.empty() || !options_.overlays.empty() || !options_.price_lists.empty())
    data_.catalogue.reset();
  if (!options_.calibrations.empty()) data_.calibration.reset();
  into_ = &into;
  files_ = files;
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
  return data_;
}

void Session::catch_interrupts() const {
  if (!is_called()) cli::catch_interrupts();
}

bool Session::stopped() const {
  return (stop_ != nullptr && stop_->is_up()) || interrupted();
}

Result<const FacilityData*> Session::facility() {
  if (!facility_) {
    const Result<const Catalogue*> known = catalogue();
    if (!known) return known.error();
    Result<FacilityData> loaded = load_facility(*data_directory() + "/facility", **known);
    if (!loaded) return loaded.error();
    facility_ = std::move(*loaded);
  }
  return &*facility_;
}

Result<std::string> Session::use_profile(const std::string& path) {
  constexpr std::size_t kProfileLimit = 16u << 20;
  if (!may_name_files()) return Error{ErrorCode::bad_input, "--device", "names a file: name a device"};
  for (const Measured& m : measured_) {
    if (m.path == path) return m.id;
  }
  const Result<std::string> text = read_file(path, kProfileLimit);
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
  data_.catalogue.reset();
  data_.calibration.reset();
  return *id;
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
    *into_ += text;
    return;
  }
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Session::print(const Document& document) const {
  print(form() == Form::markdown ? to_markdown(document) : to_terminal(document, style()));
}

void Session::warn(std::string_view text) const {
  if (into_ != nullptr) return;
  const std::string line = "ridge: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace ridge::cli
