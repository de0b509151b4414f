#include "app/cli/session.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <system_error>

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

Form Session::form() const {
  if (options_.json) return Form::json;
  if (options_.csv) return Form::csv;
  return options_.markdown ? Form::markdown : Form::terminal;
}

TerminalStyle Session::style() const {
  return {.width = surroundings_.width, .colour = surroundings_.colour && !options_.no_colour};
}

Result<const Catalogue*> Session::catalogue() {
  if (!catalogue_) {
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
    catalogue_ = std::move(*loaded);
    for (const std::string& remark : catalogue_->remarks()) warn(remark);
  }
  return &*catalogue_;
}

Result<const Engines*> Session::engines() {
  if (!engines_) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    Result<Engines> loaded = load_engines(*directory + "/engines");
    if (!loaded) return loaded.error();
    engines_ = std::move(*loaded);
  }
  return &*engines_;
}

Result<const Calibration*> Session::calibration() {
  if (!calibration_) {
    const Result<std::string> directory = data_directory();
    if (!directory) return directory.error();
    Result<Calibration> loaded = load_calibration(*directory + "/calibration", options_.calibrations);
    if (!loaded) return loaded.error();
    calibration_ = std::move(*loaded);
    for (const Measured& m : measured_) {
      const Result<const Catalogue*> with = catalogue();
      if (!with) return with.error();
      const Result<const Engines*> known = engines();
      if (!known) return known.error();
      Result<evidence::MeasuredFit> fit = evidence::fit_measured(*m.profile, m.id, *calibration_, **with, **known);
      if (!fit) return Error{fit.error().code, m.path, fit.error().message};
      calibration_ = std::move(fit->calibration);
    }
  }
  return &*calibration_;
}

Result<std::string> Session::use_profile(const std::string& path) {
  constexpr std::size_t kProfileLimit = 16u << 20;
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
  catalogue_.reset();
  calibration_.reset();
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
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Session::print(const Document& document) const {
  print(form() == Form::markdown ? to_markdown(document) : to_terminal(document, style()));
}

void Session::warn(std::string_view text) const {
  const std::string line = "ridge: " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace ridge::cli
