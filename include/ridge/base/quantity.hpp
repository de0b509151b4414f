// Physical quantities that cannot be mixed up.
//
//   Bytes memory = gigabytes(141);
//   BytesPerSecond bandwidth = gigabytes(4800) / seconds(1);
//   Seconds t = memory / bandwidth;           // compiles
//   // memory + t;                            // does not compile: bytes and seconds do not add
//
// A quantity is one double in the coherent base unit of its dimension (byte, second, floating-point operation, joule,
// US dollar, token, accelerator, kilogram, metre); at run time it costs what a double costs. Text in and out is in
// ridge/base/text.hpp. Everything here is constexpr and safe to call from any thread.
#pragma once

#include <cmath>

namespace ridge {

/// Exponents of the base units: a byte per second is `Dimension<1, -1>`.
template <int Byte, int Second = 0, int Flop = 0, int Joule = 0, int Dollar = 0, int Token = 0, int Gpu = 0,
          int Kilogram = 0, int Metre = 0>
struct Dimension {
  static constexpr int exponents[9] = {Byte, Second, Flop, Joule, Dollar, Token, Gpu, Kilogram, Metre};
};

template <class Dim>
class Quantity {
 public:
  using dimension = Dim;

  constexpr Quantity() = default;
  /// The number of base units. Explicit, so that a bare number never becomes a quantity by accident.
  constexpr explicit Quantity(double base_units) : base_units_(base_units) {}

  /// How many base units this is: the only way back to a plain number.
  [[nodiscard]] constexpr double value() const { return base_units_; }

  constexpr Quantity& operator+=(Quantity other) { return *this = *this + other; }
  constexpr Quantity& operator-=(Quantity other) { return *this = *this - other; }
  constexpr Quantity& operator*=(double factor) { return *this = *this * factor; }
  constexpr Quantity& operator/=(double divisor) { return *this = *this / divisor; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return Quantity(a.base_units_ + b.base_units_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return Quantity(a.base_units_ - b.base_units_); }
  friend constexpr Quantity operator-(Quantity a) { return Quantity(-a.base_units_); }
  friend constexpr Quantity operator*(Quantity a, double factor) { return Quantity(a.base_units_ * factor); }
  friend constexpr Quantity operator*(double factor, Quantity a) { return Quantity(factor * a.base_units_); }
  friend constexpr Quantity operator/(Quantity a, double divisor) { return Quantity(a.base_units_ / divisor); }

  // Spelled out instead of a defaulted <=>: g++ 12 turns these into single instructions, and <=> into branches.
  friend constexpr bool operator==(Quantity a, Quantity b) { return a.base_units_ == b.base_units_; }
  friend constexpr bool operator!=(Quantity a, Quantity b) { return a.base_units_ != b.base_units_; }
  friend constexpr bool operator<(Quantity a, Quantity b) { return a.base_units_ < b.base_units_; }
  friend constexpr bool operator>(Quantity a, Quantity b) { return a.base_units_ > b.base_units_; }
  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.base_units_ <= b.base_units_; }
  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.base_units_ >= b.base_units_; }

 private:
  double base_units_ = 0;
};

namespace detail {

template <class A, class B, int Sign>
struct Combine;

template <int... A, int... B, int Sign>
struct Combine<Dimension<A...>, Dimension<B...>, Sign> {
  using type = Dimension<(A + Sign * B)...>;
};

template <class Dim>
struct Result_of {
  using type = Quantity<Dim>;
  static constexpr type make(double v) { return type(v); }
};

template <>
struct Result_of<Dimension<0>> {  // bytes per byte is a plain number
  using type = double;
  static constexpr type make(double v) { return v; }
};

}  // namespace detail

template <class A, class B>
constexpr auto operator*(Quantity<A> a, Quantity<B> b) {
  return detail::Result_of<typename detail::Combine<A, B, 1>::type>::make(a.value() * b.value());
}

template <class A, class B>
constexpr auto operator/(Quantity<A> a, Quantity<B> b) {
  return detail::Result_of<typename detail::Combine<A, B, -1>::type>::make(a.value() / b.value());
}

template <class A>
constexpr auto operator/(double a, Quantity<A> b) {
  return detail::Result_of<typename detail::Combine<Dimension<0>, A, -1>::type>::make(a / b.value());
}

//                                        byte  s  flop  J   $  token gpu kg  m
using Bytes = Quantity<Dimension<1>>;
using Seconds = Quantity<Dimension<0, 1>>;
using Flops = Quantity<Dimension<0, 0, 1>>;
using Joules = Quantity<Dimension<0, 0, 0, 1>>;
using Dollars = Quantity<Dimension<0, 0, 0, 0, 1>>;
using Tokens = Quantity<Dimension<0, 0, 0, 0, 0, 1>>;
using Gpus = Quantity<Dimension<0, 0, 0, 0, 0, 0, 1>>;
using Kilograms = Quantity<Dimension<0, 0, 0, 0, 0, 0, 0, 1>>;
using Metres = Quantity<Dimension<0, 0, 0, 0, 0, 0, 0, 0, 1>>;

using Hertz = Quantity<Dimension<0, -1>>;
using BytesPerSecond = Quantity<Dimension<1, -1>>;
using FlopsPerSecond = Quantity<Dimension<0, -1, 1>>;
using Watts = Quantity<Dimension<0, -1, 0, 1>>;
using TokensPerSecond = Quantity<Dimension<0, -1, 0, 0, 0, 1>>;
using JoulesPerToken = Quantity<Dimension<0, 0, 0, 1, 0, -1>>;
using DollarsPerSecond = Quantity<Dimension<0, -1, 0, 0, 1>>;
using DollarsPerToken = Quantity<Dimension<0, 0, 0, 0, 1, -1>>;
using DollarsPerJoule = Quantity<Dimension<0, 0, 0, -1, 1>>;
/// What renting one accelerator costs: dollars per GPU and second (text: "$2.30/GPU-hour").
using GpuRent = Quantity<Dimension<0, -1, 0, 0, 1, 0, -1>>;

// clang-format off
constexpr Bytes bytes(double v) { return Bytes(v); }
constexpr Bytes gigabytes(double v) { return Bytes(v * 1e9); }
constexpr Bytes gibibytes(double v) { return Bytes(v * 1073741824.0); }
constexpr Seconds seconds(double v) { return Seconds(v); }
constexpr Seconds microseconds(double v) { return Seconds(v * 1e-6); }
constexpr Seconds hours(double v) { return Seconds(v * 3600.0); }
constexpr Flops flops(double v) { return Flops(v); }
constexpr Watts watts(double v) { return Watts(v); }
constexpr Dollars dollars(double v) { return Dollars(v); }
constexpr Tokens tokens(double v) { return Tokens(v); }
// clang-format on

}  // namespace ridge
