// What a verb says of a flag or a key that it cannot use.
//
//   return wrong("--gpus", "'8x' is no whole number");
#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "ridge/base/result.hpp"

namespace ridge::cli {

inline Error wrong(std::string_view where, std::string message) {
  return {ErrorCode::bad_input, std::string(where), std::move(message)};
}

/// Hands on the error, or keeps the value.
template <class T>
Status take(const Result<T>& from, T& into) {
  if (!from) return from.error();
  into = *from;
  return {};
}

}  // namespace ridge::cli
