// Amounts of memory that several kinds of claims need.
#pragma once

#include <string>

#include "claims/kind.hpp"

namespace ridge::claims {

/// Bytes of one weight as claims count them: whole bits, without the scales that real formats add.
[[nodiscard]] double nominal_bytes(Format format);

/// Parameters of the model named by 'model', or the count given by 'parameters'.
struct Size {
  double parameters = 0;
  std::string shown;
  const Model* model = nullptr;
};
Result<Size> size_of(Inputs& inputs);

}  // namespace ridge::claims
