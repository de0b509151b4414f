#include "app/cli/line/value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>

#include "app/cli/line/offers.hpp"
#include "app/cli/session/dates.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/session/wrong.hpp"
#include "ask/field.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/catalogue/engine.hpp"
#include "ridge/catalogue/names.hpp"
#include "ridge/catalogue/what_if.hpp"

namespace ridge::cli::value {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestValue = 4096;

/// What no value of any option holds.
Status clean(const std::string& text) {
  if (text.size() > kLongestValue) return wrong("", fmt::format("is longer than {} bytes", kLongestValue));
  const auto control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), control))
    return wrong("", ridge::quoted(text) + " holds a control character");
  return {};
}

/// With what every value has to be.
Takes checked(ValueCheck check, Completer offers = {}, bool is_path = false) {
  return Takes(
      [check = std::move(check)](Session& session, const std::string& text) -> Status {
        if (const Status s = clean(text); !s) return s;
        return check(session, text);
      },
      std::move(offers), is_path);
}

/// Names that are refused with the nearest, and with all of them where they are few.
Status among(const std::string& text, const std::vector<std::string>& known, std::string_view what) {
  // Where the lists cannot be read there is nothing to hold it against, and the verb says what is wrong with them.
  if (known.empty()) return {};
  if (std::find(known.begin(), known.end(), text) != known.end()) return {};
  constexpr std::size_t kFew = 10;
  constexpr std::size_t kSome = 30;
  const std::vector<std::string_view> names(known.begin(), known.end());
  const std::string near = nearest(text, names.data(), names.size());
  std::string hint = near.empty() ? "" : "; did you mean " + near + "?";
  if (known.size() <= kFew)
    return wrong("", fmt::format("{} is none of {}{}", ridge::quoted(text), fmt::join(known, ", "), hint));
  if (near.empty() && known.size() <= kSome) hint = fmt::format("; there are {}", fmt::join(known, ", "));
  return Error{ErrorCode::not_found, "", fmt::format("there is no {} {}{}", what, ridge::quoted(text), hint)};
}

Status in_range(std::string_view text, double low, double high) {
  const Result<double> number = parse_count(text);
  if (!number) return wrong("", number.error().message);
  if (*number >= low && *number <= high) return {};
  return wrong("", fmt::format("{} is outside of {} to {}", text, format_number(low, 7), format_number(high, 7)));
}

Status no_files_here() {
  return wrong("", "names a file: name what the catalogue knows");
}

Status known_model(Session& session, const std::string& text) {
  const Result<const Catalogue*> names = session.names();
  if (!names) return names.error();
  if (text.starts_with("dense:") || text.starts_with("moe:") || session.may_name_files()) {
    const Result<Model> model = (*names)->find_model(text);
    return model ? Status() : Status(model.error());
  }
  const Result<const Model*> model = model_named(**names, text);
  return model ? Status() : Status(model.error());
}

Status known_device(Session& session, const std::string& text) {
  if (text.ends_with(".toml")) {
    if (!session.may_name_files()) return no_files_here();
    std::error_code error;
    return fs::is_regular_file(text, error) ? Status()
                                            : Status(Error{ErrorCode::not_found, text, "there is no such file"});
  }
  const Result<const Catalogue*> names = session.names();
  if (!names) return names.error();
  const Result<Device> device = (*names)->find_device(text);
  return device ? Status() : Status(device.error());
}

Status known_engine(Session& session, const std::string& text) {
  const Result<const Engines*> engines = session.engines();
  if (!engines) return engines.error();
  std::string wanted = lower(text);
  std::replace(wanted.begin(), wanted.end(), '_', '-');
  // Pipelines of pictures have engines of their own, which make no difference to their speed.
  if (wanted.starts_with("diffusers") || wanted == "xdit" || wanted == "tensorrt") return {};
  std::vector<std::string_view> ids;
  for (const Engine& engine : (*engines)->all()) {
    const auto named = [&](const std::string& known) { return wanted == known || wanted.starts_with(known + "-"); };
    if (named(engine.id) || std::any_of(engine.aliases.begin(), engine.aliases.end(), named)) return {};
    ids.push_back(engine.id);
  }
  const std::string near = nearest(text, ids.data(), ids.size());
  return wrong("", fmt::format("there is no engine {}{}", ridge::quoted(text),
                               near.empty() ? "" : "; did you mean " + near + "?"));
}

template <class Check>
Status each_of(const std::string& text, const Check& check) {
  for (const std::string& part : split(text, ',')) {
    const std::string word(trimmed(part));
    if (word.empty()) return wrong("", "a part of the list is empty: write a,b,c");
    if (const Status s = check(word); !s) return s;
  }
  return {};
}

/// Each part of a list by itself; what is written out (dense:layers=32,hidden=...) is one.
Status each_part(Session& session, const std::string& text, const ValueCheck& check) {
  if (text.find(':') != std::string::npos) return check(session, std::string(trimmed(text)));
  return each_of(text, [&](const std::string& part) { return check(session, part); });
}

}  // namespace

Takes number(double low, double high) {
  return checked([=](Session&, const std::string& text) { return in_range(text, low, high); });
}

Takes whole(double low, double high) {
  return checked([=](Session&, const std::string& text) -> Status {
    if (const Status s = in_range(text, low, high); !s) return s;
    const double number = *parse_count(text);
    return number == std::floor(number) ? Status() : Status(wrong("", text + " is no whole number"));
  });
}

Takes measure(Result<double> (*read)(std::string_view), std::string example, limits::Limit most, bool may_be_zero) {
  return checked([=](Session&, const std::string& text) -> Status {
    const Result<double> value = read(text);
    if (!value) {
      const std::string& why = value.error().message;
      return wrong("", why.find("is no unit") == std::string::npos ? why : why + "; for example " + example);
    }
    if (*value < 0 || (*value == 0 && !may_be_zero)) {
      return wrong("", fmt::format("write {} 0, for example {}", may_be_zero ? "at least" : "more than", example));
    }
    if (!(*value <= most.most)) return wrong("", limits::beyond(most));
    return {};
  });
}

Takes one_of(std::vector<std::string> words) {
  Completer offers = offer(words);
  return checked([words = std::move(words)](Session&, const std::string& text) { return among(text, words, "word"); },
                 std::move(offers));
}

Takes one_of(Completer known, std::string what) {
  return checked([known, what = std::move(what)](
                     Session& session, const std::string& text) { return among(text, known(session, {}), what); },
                 known);
}

Takes parsed(std::function<Status(std::string_view)> read, Completer offers) {
  return checked(
      [read = std::move(read)](Session&, const std::string& text) -> Status {
        const Status s = read(text);
        return s ? s : Status(wrong("", s.error().message));
      },
      std::move(offers));
}

Takes parts(Takes part) {
  return Takes([check = std::move(part.check)](Session& session,
                                               const std::string& text) { return each_part(session, text, check); },
               std::move(part.completer), part.path);
}

Takes listed(ValueCheck check, Completer offers) {
  return checked(
      [check = std::move(check)](Session& session, const std::string& text) -> Status {
        const Status s = each_of(text, [](const std::string&) { return Status(); });
        return s ? check(session, text) : s;
      },
      std::move(offers));
}

Takes either(Takes first, Takes second) {
  return Takes(
      [a = std::move(first.check), b = std::move(second.check)](Session& session, const std::string& text) -> Status {
        return a(session, text) ? Status() : b(session, text);
      },
      std::move(first.completer));
}

Takes model() {
  return checked(known_model, offer_models);
}

Takes device() {
  return checked(known_device, offer_devices);
}

Takes system() {
  return one_of(offer_systems, "system");
}

Takes engine() {
  return checked(known_engine, offer_engines);
}

Takes format() {
  return parsed(
      [](std::string_view text) -> Status {
        const Result<Format> format = parse_format(text);
        return format ? Status() : Status(format.error());
      },
      offer_formats);
}

Takes release() {
  return parsed([](std::string_view text) { return ask::check_release(text); });
}

Takes date() {
  return parsed([](std::string_view text) -> Status {
    const Result<std::string_view> read = parse_date(text);
    return read ? Status() : Status(read.error());
  });
}

Takes price_place() {
  const auto places = [](Session& session, const std::vector<std::string>&) {
    std::vector<std::string> known;
    const Result<const Catalogue*> names = session.names();
    if (!names) return known;
    for (const Price& price : (*names)->prices()) {
      for (const std::string& place : {price.provider, price.region}) {
        if (!place.empty()) known.push_back(place);
      }
    }
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return known;
  };
  return checked(
      [places](Session& session, const std::string& text) -> Status {
        const std::vector<std::string> known = places(session, {});
        const std::string wanted = lower(text);
        const bool is_word = !wanted.empty() && std::isalnum(static_cast<unsigned char>(wanted[0])) != 0 &&
                             wanted.find_first_of("abcdefghijklmnopqrstuvwxyz") != std::string::npos;
        const bool is_part = is_word && std::any_of(known.begin(), known.end(), [&](const std::string& place) {
                               return contains(lower(place), wanted);
                             });
        return is_part ? Status() : among(text, known, "provider or region of prices");
      },
      places);
}

Takes what_if() {
  return checked(
      [](Session&, const std::string& text) -> Status {
        // Which entries it changes is for the verb to say; here, whether there is such a figure.
        const std::string all[] = {text};
        const Result<std::vector<OverlayText>> read =
            ridge::what_if(all, WhatIfSubjects{.devices = {"any"}, .models = {"any"}, .systems = {"any"}});
        return read ? Status() : Status(wrong("", read.error().message));
      },
      [](Session&, const std::vector<std::string>&) { return what_if_keys(); });
}

Takes file() {
  return checked(
      [](Session& session, const std::string& text) -> Status {
        if (!session.may_name_files()) return no_files_here();
        std::error_code error;
        if (fs::is_directory(text, error)) return Error{ErrorCode::bad_input, text, "is a folder, not a file"};
        if (fs::exists(text, error)) return {};
        return Error{ErrorCode::not_found, text, "there is no such file"};
      },
      complete_files, true);
}

Takes written(bool or_standard_output) {
  return checked(
      [=](Session& session, const std::string& text) -> Status {
        if (or_standard_output && text == "-") return {};
        if (!session.may_name_files()) return no_files_here();
        std::error_code error;
        if (fs::is_directory(text, error)) return Error{ErrorCode::bad_input, text, "is a folder, not a file"};
        const fs::path folder = fs::path(text).parent_path();
        if (folder.empty() || fs::is_directory(folder, error)) return {};
        return Error{ErrorCode::not_found, text, fmt::format("there is no folder {}", ridge::quoted(folder.string()))};
      },
      complete_files, true);
}

Takes folder() {
  return checked(
      [](Session& session, const std::string& text) -> Status {
        if (!session.may_name_files()) return no_files_here();
        std::error_code error;
        if (fs::is_directory(text, error)) return {};
        return Error{ErrorCode::not_found, text, "there is no such folder"};
      },
      complete_directories, true);
}

Takes made_folder() {
  return checked(
      [](Session& session, const std::string& text) -> Status {
        if (!session.may_name_files()) return no_files_here();
        std::error_code error;
        if (!fs::exists(text, error) || fs::is_directory(text, error)) return {};
        return Error{ErrorCode::bad_input, text, "is a file, not a folder"};
      },
      complete_directories, true);
}

Takes name(std::string also) {
  return checked([also = std::move(also)](Session&, const std::string& text) -> Status {
    const auto usual = [&](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
             also.find(c) != std::string::npos;
    };
    if (std::all_of(text.begin(), text.end(), usual) && !text.starts_with('-')) return {};
    return wrong("", fmt::format("{} is no name: letters, digits and {}", ridge::quoted(text), also));
  });
}

Takes line() {
  return checked([](Session&, const std::string&) -> Status { return {}; });
}

}  // namespace ridge::cli::value
