// How libraries speak of the fields of a question, and how each front end says it to whom it serves.
//
//   return Error{ErrorCode::bad_input, "⟦gpus⟧", "say ⟦gpus⟧, or ⟦tokens⟧ and ⟦days⟧"};
//   phrased(error.message, Voice::flags);                 // "say --gpus, or --tokens and --days"
//   const Changes nearest = {{"tp", "8"}, {"power_cap", "500W"}};
//   phrased(marked(nearest), Voice::flags);               // "--tp 8 --power-cap 500W"
//   phrased(marked(nearest), Voice::json);                // "\"tp\": 8, \"power_cap\": \"500W\""
//   phrased(marked(nearest), Voice::python);              // "tp=8, power_cap=\"500W\""
//
// A library knows fields by their keys and no command line, so its texts name them in marks: ⟦key⟧, or ⟦key=value⟧
// where a value is proposed ("true": a switch that is to be on). Whoever shows a text says the marks in the voice of
// those who read it; printers of pages for people do so by themselves. What proposes a change keeps it as data and is
// marked only where it becomes text. Text without marks stays as it is. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

/// A field and the value to give it, as the field's text: {"budget", "$3.2M"}. A switch says "true".
struct Change {
  std::string field;
  std::string value;

  bool operator==(const Change&) const = default;
};
using Changes = std::vector<Change>;

/// "⟦gpus⟧": the field as a text names it.
[[nodiscard]] std::string named(std::string_view field);
/// "⟦tp=8⟧ ⟦gpus=16⟧", in the order given.
[[nodiscard]] std::string marked(const Changes& changes);

/// Who reads: a person at a command line, a program that writes JSON, a person who writes Python.
enum class Voice : std::uint8_t { flags, json, python };

/// The text with its marks said. Flags are quoted for a shell where they must be; marks that follow each other are a
/// command line for people, members or arguments with commas for programs.
[[nodiscard]] std::string phrased(std::string_view text, Voice voice);
/// The same within the text of a JSON document, where quotes are escaped.
[[nodiscard]] std::string phrased_in_json(std::string_view document, Voice voice);
/// Where and message said; to programs `where` is the key alone, "power_cap".
[[nodiscard]] Error phrased(const Error& error, Voice voice);
/// "--tp 8 --gpus 16".
[[nodiscard]] inline std::string as_flags(const Changes& changes) {
  return phrased(marked(changes), Voice::flags);
}

/// Whether a program that reads JSON takes the value as a number: 8, 0.5, 1e9.
[[nodiscard]] bool is_json_number(std::string_view value);

}  // namespace ridge
