// The vocabulary of quantities in text: which unit words there are, what each dimension is called, how it is printed.
//
//   find_unit("GB")->power                       9
//   find_kind(Bytes::dimension::exponents)       "an amount of data", such as "141 GB"
//
// Tables are constant; any thread may read them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/text.hpp"

namespace ridge::detail {

inline constexpr int kBaseUnits = 9;
using Exponents = int[kBaseUnits];

/// One unit word resolved: 10^power * multiply / divide base units. Apart, so that powers of ten can be joined to the
/// digits before they become binary: "8.03 GB" is then 8,030,000,000 bytes and not one bit less.
struct Unit {
  int power = 0;
  double multiply = 1;
  double divide = 1;
  Exponents exponents = {};
};

/// The unit a word stands for, prefix included ("GB", "TFLOPS", "tokens"), or nothing.
std::optional<Unit> find_unit(std::string_view word);

/// Every spelling `find_unit` knows, for suggestions.
const std::vector<std::string>& unit_spellings();

/// True for what is counted in thousands and millions in front of the word: "15T tokens", "16k GPUs", "$2M".
bool is_counted(std::string_view word);

/// The power of ten: 3, 6, 9, 12 for 'k', 'M', 'B', 'T'; 0 for anything else.
int magnitude(char letter);

/// One rung of a ladder of prefixes: use it while the printed number stays below `limit`.
struct Step {
  double scale = 1;
  const char* prefix = "";
  double limit = 1000;
};

/// A dimension that has a name of its own.
struct Kind {
  Exponents exponents;
  const char* name;     ///< "a bandwidth"
  const char* lead;     ///< "$" or nothing, in front of the number
  const char* number;   ///< of the example
  const char* unit;     ///< of the example, with the space in front of it where one belongs
  const char* printed;  ///< the unit as format prints it, after the prefix
  double scale;         ///< base units in one printed unit
  std::span<const Step> ladder;
  bool whole = false;  ///< whole numbers without a prefix print without decimals: "8 GPU"

  [[nodiscard]] std::string example() const { return std::string(lead) + number + unit; }
};

/// The named dimension with these exponents, or nullptr.
const Kind* find_kind(const Exponents& exponents);

/// "B/kg" and the like, for a dimension without a name; "" if all exponents are zero.
std::string spell(const Exponents& exponents);

}  // namespace ridge::detail
