// What an option takes, said where it is declared, and checked before the verb runs.
//
//   options.text("--spares", "N", spares, "GPUs that stand ready", value::whole(0, 1e7));
//   options.text("--repair", "TIME", repair, "until a unit is a spare again", value::quantity<Seconds>("24h"));
//   options.text("--practice", "P", practice, "how failures are dealt with", value::one_of({"automated", "manual"}));
//   options.list("--by", "KEYS", by, "what to group by", value::parts(value::parsed(mlperf::parse_key)));
//
// Every one refuses control characters and texts beyond 4,096 bytes, and says what it takes; names are refused with the
// nearest. Rules between options stay with the verb. What an option takes is also what completion offers. Pure, but for
// names and files, which are looked up in the session.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/cli/line/options.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli::value {

/// Numbers from low to high, with or without a suffix: 15T.
[[nodiscard]] Takes number(double low, double high);
[[nodiscard]] Takes whole(double low, double high);

/// What measure() reads, in base units, above 0 (or from 0) and at most limits::kNumber, or another limit.
[[nodiscard]] Takes measure(Result<double> (*read)(std::string_view), std::string example,
                            limits::Limit most = limits::kNumber, bool may_be_zero = false);
template <class Q>
[[nodiscard]] Takes quantity(std::string example, limits::Limit most = limits::kNumber, bool may_be_zero = false) {
  return measure(
      [](std::string_view text) -> Result<double> {
        const Result<Q> read = parse_quantity<Q>(text);
        if (!read) return read.error();
        return read->value();
      },
      std::move(example), most, may_be_zero);
}

/// One of these words, which completion offers.
[[nodiscard]] Takes one_of(std::vector<std::string> words);
/// One of what is known when it is asked: ids of the catalogue, files of a folder.
[[nodiscard]] Takes one_of(Completer known, std::string what);
/// What a function of the library reads: its refusal is ours.
[[nodiscard]] Takes parsed(std::function<Status(std::string_view)> read, Completer offers = {});
template <class T>
[[nodiscard]] Takes parsed(Result<T> (*read)(std::string_view), Completer offers = {}) {
  return parsed(
      [read](std::string_view text) -> Status {
        const auto done = read(text);
        return done ? Status() : Status(done.error());
      },
      std::move(offers));
}

/// Parts of a list, a,b,c, each of which is such a value.
[[nodiscard]] Takes parts(Takes part);
/// A list that is checked as a whole: it has a part, and none is empty.
[[nodiscard]] Takes listed(ValueCheck check, Completer offers = {});
/// Either of two; the refusal is that of the second.
[[nodiscard]] Takes either(Takes first, Takes second);

/// Names of the catalogue, as people write them. A model may also be a file or written out, a device a profile (.toml),
/// where the session may name files.
[[nodiscard]] Takes model();
[[nodiscard]] Takes device();
[[nodiscard]] Takes system();
[[nodiscard]] Takes engine();
[[nodiscard]] Takes format();
/// "0.12", "v1.2.0rc1".
[[nodiscard]] Takes release();
/// 2026-06-30, 2026-06 or 2026.
[[nodiscard]] Takes date();
/// A provider or region of prices, or part of its name.
[[nodiscard]] Takes price_place();
/// KEY=VALUE of --set.
[[nodiscard]] Takes what_if();

/// A file that is read, so it is there; a file that is written, so its folder is there; a folder that is there, or
/// that is made. "-" is standard output where it says so.
[[nodiscard]] Takes file();
[[nodiscard]] Takes written(bool or_standard_output = false);
[[nodiscard]] Takes folder();
[[nodiscard]] Takes made_folder();

/// Letters, digits and some of ._-/:@+=, for what only somebody else knows: a container image, a repository, a source.
[[nodiscard]] Takes name(std::string also = "._-/:@+");
/// A line of text, whatever it says.
[[nodiscard]] Takes line();

}  // namespace ridge::cli::value
