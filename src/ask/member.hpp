// Where tables say a field is kept: in a member of the question, or of a part of it.
//
//   at<&TrainingQuery::plan, &TrainingPlan::pp>()            // for fields that know whose they are
//   in<&GoodputQuery::restart_s>()                           // for a table about one kind of question
//
// Numbers, words, switches, quantities, and optional ones: empty says nothing. Pure.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdlib>
#include <limits>
#include <optional>
#include <type_traits>

#include "ask/field.hpp"
#include "ridge/base/letters.hpp"

namespace ridge::ask {

inline constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

template <class M>
struct Owner;
template <class Q, class T>
struct Owner<T Q::*> {
  using type = Q;
};

template <class T>
concept Optional = requires(const T& v) {
  v.has_value();
};
template <class T>
concept Measured = requires(const T& v) {
  v.value();
}
&&!Optional<T>;

template <class T>
double as_number(const T& value) {
  if constexpr (Optional<T>) {
    return value ? as_number(*value) : kNothing;
  } else if constexpr (Measured<T>) {
    return value.value();
  } else if constexpr (std::is_same_v<T, float>) {  // 0.1f is meant as 0.1
    return std::strtod(fmt::format("{}", value).c_str(), nullptr);
  } else {
    return static_cast<double>(value);
  }
}

template <class T>
void assign(T& into, double value) {
  if constexpr (Optional<T>) {
    assign(into.emplace(), value);
  } else if constexpr (Measured<T>) {
    into = T(value);
  } else if constexpr (std::is_enum_v<T>) {
    into = static_cast<T>(static_cast<int>(value));
  } else if constexpr (std::is_same_v<T, bool>) {
    into = value != 0;
  } else {
    into = static_cast<T>(value);
  }
}

/// The member itself.
template <auto First, auto... Rest, class Q>
constexpr auto& reach(Q& q) {
  return ((q.*First).*....*Rest);
}

template <auto First, auto... Rest>
constexpr auto at(bool always = false) {
  using Q = typename Owner<decltype(First)>::type;
  Member<Q> m;
  m.get = [](const Q& q) { return as_number(reach<First, Rest...>(q)); };
  m.set = [](Q& q, double value) { assign(reach<First, Rest...>(q), value); };
  m.always = always;
  return m;
}
template <auto First>
constexpr auto name_at() {
  Member<typename Owner<decltype(First)>::type> m;
  m.name = First;
  return m;
}

template <auto First, auto... Rest>
constexpr AnyMember in() {
  using Q = typename Owner<decltype(First)>::type;
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.get = [](const void* q) { return as_number(reach<First, Rest...>(*static_cast<const Q*>(q))); };
  m.set = [](void* q, double value) { assign(reach<First, Rest...>(*static_cast<Q*>(q)), value); };
  return m;
}
/// A switch that turns off what is usual.
template <auto First, auto... Rest>
constexpr AnyMember not_in() {
  using Q = typename Owner<decltype(First)>::type;
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.get = [](const void* q) { return reach<First, Rest...>(*static_cast<const Q*>(q)) ? 0.0 : 1.0; };
  m.set = [](void* q, double value) { reach<First, Rest...>(*static_cast<Q*>(q)) = value == 0; };
  return m;
}
/// A number with a way of its own.
template <class Q, double (*Get)(const Q&), void (*Set)(Q&, double)>
constexpr AnyMember number_by() {
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.get = [](const void* q) { return Get(*static_cast<const Q*>(q)); };
  m.set = [](void* q, double value) { Set(*static_cast<Q*>(q), value); };
  return m;
}
/// A text with a way of its own: Write() is empty where nothing is said.
template <class Q, Status (*Read)(std::string_view, Q&), std::string (*Write)(const Q&)>
constexpr AnyMember text_by() {
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.read = [](std::string_view text, void* q) { return Read(text, *static_cast<Q*>(q)); };
  m.write = [](const void* q) { return Write(*static_cast<const Q*>(q)); };
  return m;
}

/// A name; nothing is said by the usual one.
template <auto First, auto... Rest>
constexpr AnyMember name_in() {
  using Q = typename Owner<decltype(First)>::type;
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.read = [](std::string_view text, void* q) -> Status {
    reach<First, Rest...>(*static_cast<Q*>(q)) = std::string(text);
    return {};
  };
  m.write = [](const void* q) -> std::string {
    const Q usual{};
    const std::string& said = reach<First, Rest...>(*static_cast<const Q*>(q));
    return said == reach<First, Rest...>(usual) ? std::string() : said;
  };
  return m;
}

/// A list of names: a,b.
template <auto First, auto... Rest>
constexpr AnyMember names_in() {
  using Q = typename Owner<decltype(First)>::type;
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.read = [](std::string_view text, void* q) -> Status {
    reach<First, Rest...>(*static_cast<Q*>(q)) = split_words(text, ',');
    return {};
  };
  m.write = [](const void* q) {
    return fmt::format("{}", fmt::join(reach<First, Rest...>(*static_cast<const Q*>(q)), ","));
  };
  return m;
}

/// A list of formats: bf16,fp8.
template <auto First, auto... Rest>
constexpr AnyMember formats_in() {
  using Q = typename Owner<decltype(First)>::type;
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.read = [](std::string_view text, void* q) -> Status {
    for (const std::string& part : split_words(text, ',')) {
      const Result<Format> format = parse_format(part);
      if (!format) return format.error();
      reach<First, Rest...>(*static_cast<Q*>(q)).push_back(*format);
    }
    return {};
  };
  m.write = [](const void* q) {
    std::string out;
    for (const Format f : reach<First, Rest...>(*static_cast<const Q*>(q))) {
      out += (out.empty() ? "" : ",") + std::string(name(f));
    }
    return out;
  };
  return m;
}

/// What a function of the library reads and name() writes; nothing is said by the usual one.
template <auto Parse, auto First, auto... Rest>
constexpr AnyMember word_in() {
  using Q = typename Owner<decltype(First)>::type;
  AnyMember m;
  m.kind = &kKindOf<Q>;
  m.read = [](std::string_view text, void* q) -> Status {
    const auto value = Parse(text);
    if (!value) return value.error();
    reach<First, Rest...>(*static_cast<Q*>(q)) = *value;
    return {};
  };
  m.write = [](const void* q) -> std::string {
    const Q usual{};
    const auto& said = reach<First, Rest...>(*static_cast<const Q*>(q));
    if (said == reach<First, Rest...>(usual)) return {};
    if constexpr (Optional<std::remove_cvref_t<decltype(said)>>) {
      return std::string(name(*said));
    } else {
      return std::string(name(said));
    }
  };
  return m;
}

/// Whether a function of the library can read it.
template <auto Parse>
Status can(std::string_view text) {
  const auto value = Parse(text);
  return value ? Status() : Status(value.error());
}

}  // namespace ridge::ask
