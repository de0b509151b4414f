#include "ridge/limits.hpp"

#include "ridge/text.hpp"

namespace ridge::limits {

std::string beyond(const Limit& limit) {
  return "at most " + format_number(limit.most, 12) + " " + std::string(limit.what);
}

}  // namespace ridge::limits
