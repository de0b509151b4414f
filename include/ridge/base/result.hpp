// A value, or the reason why there is none.
//
//   Result<Bytes> size = parse_quantity<Bytes>("141 GB");
//   if (!size) return size.error();             // code, where, message
//   use(*size);
//
// Bad input travels as a Result; a broken invariant is an assert; nothing in the library throws across a module's edge.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ridge {

enum class ErrorCode {
  bad_input,   ///< the text or file cannot be understood (exit 1)
  not_found,   ///< a name, file or id that does not exist (exit 1)
  refused,     ///< understood, but not a plan that can be answered (exit 2)
  infeasible,  ///< understood and answered: it does not fit or cannot run (exit 2)
};

struct Error {
  ErrorCode code = ErrorCode::bad_input;
  std::string where;    ///< "file:line:column", a flag, or empty
  std::string message;  ///< what is wrong and the nearest thing that works, one sentence each

  /// "where: message", or the message alone.
  [[nodiscard]] std::string text() const { return where.empty() ? message : where + ": " + message; }
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  /// The value; only if ok().
  [[nodiscard]] const T& operator*() const& { return (assert(ok()), *std::get_if<0>(&state_)); }
  [[nodiscard]] T& operator*() & { return (assert(ok()), *std::get_if<0>(&state_)); }
  [[nodiscard]] T&& operator*() && { return (assert(ok()), std::move(*std::get_if<0>(&state_))); }
  [[nodiscard]] const T* operator->() const { return &**this; }
  [[nodiscard]] T* operator->() { return &**this; }

  /// The error; only if !ok().
  [[nodiscard]] const Error& error() const { return (assert(!ok()), *std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or an error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  [[nodiscard]] bool ok() const { return !error_; }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const { return (assert(!ok()), *error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace ridge
