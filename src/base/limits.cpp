#include "ridge/base/limits.hpp"

#include "ridge/base/text.hpp"

namespace ridge::limits {

std::string beyond(const Limit& limit) {
  return "at most " + format_number(limit.most, 12) + " " + std::string(limit.what);
}

}  // namespace ridge::limits
