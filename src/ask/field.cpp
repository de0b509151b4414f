#include "ask/field.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ask/money.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"
#include "ridge/facility/site.hpp"

namespace ridge::ask {

namespace {

/// Reads back to the same number; whole ones are written out.
std::string exact(double value) {
  char buffer[64];
  const bool whole = value == std::trunc(value) && std::abs(value) < 9007199254740992.0;
  const auto end = whole ? std::to_chars(buffer, buffer + sizeof buffer, static_cast<std::int64_t>(value))
                         : std::to_chars(buffer, buffer + sizeof buffer, value);
  return std::string(buffer, end.ptr);
}

constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

Error wrong(const Field& field, std::string message) {
  return {ErrorCode::bad_input, std::string(field.key), std::move(message)};
}

/// A limit as people write it.
std::string limit_text(double limit) {
  return limit < 1 ? fmt::format("{:g}", limit) : format_number(limit, 7);
}

Result<double> number_in_range(const Field& field, std::string_view text) {
  const Result<double> number = parse_count(text);
  if (!number) return wrong(field, number.error().message);
  if (*number < field.low || *number > field.high) {
    return wrong(field, fmt::format("{} is outside of {} to {}", text, limit_text(field.low), limit_text(field.high)));
  }
  return number;
}

/// "50", "50/s", "5M/day": how many a second.
Result<double> per_second(const Field& field, std::string_view text) {
  static constexpr std::pair<std::string_view, double> kPeriods[] = {
      {"s", 1},       {"second", 1}, {"min", 60},     {"minute", 60},      {"h", 3600},
      {"hour", 3600}, {"d", 86'400}, {"day", 86'400}, {"month", 2'628'000}};
  const std::size_t slash = std::min(text.find('/'), text.size());
  double period = 1;
  if (slash < text.size()) {
    const std::string_view word = trimmed(text.substr(slash + 1));
    const auto* const at =
        std::find_if(std::begin(kPeriods), std::end(kPeriods), [&](const auto& p) { return p.first == word; });
    if (at == std::end(kPeriods)) {
      return wrong(field, fmt::format("{} is no period: write 50/s, 3000/min, 180k/hour or 5M/day", quoted(word)));
    }
    period = at->second;
  }
  const Result<double> count = parse_count(trimmed(text.substr(0, slash)));
  if (!count) return wrong(field, count.error().message);
  const double rate = *count / period;
  if (rate >= field.low && rate <= field.high) return rate;
  return wrong(field, fmt::format("{} is outside of {} to {} a second", text, format_number(field.low, 7),
                                  format_number(field.high, 7)));
}

template <class Q>
Result<double> quantity_above_zero(const Field& field, std::string_view text, std::string_view what,
                                   std::string_view example) {
  const Result<Q> value = parse_quantity<Q>(text);
  if (!value) return wrong(field, value.error().message);
  if (*value <= Q(0)) return wrong(field, fmt::format("write a {} above 0, for example {}", what, example));
  if (!(value->value() <= limits::kNumber.most)) return wrong(field, limits::beyond(limits::kNumber));
  return value->value();
}

constexpr double kSecondsOfYear = 31'536'000;
constexpr double kSecondsOfMonth = 2'628'000;
constexpr double kHoursOfMonth = 730;

/// As written in the field's example, above 0 or from 0, and at most what the field says.
template <class Q>
Result<double> quantity_like(const Field& field, std::string_view text) {
  const Result<Q> read = parse_quantity<Q>(text);
  if (!read) {
    const std::string& why = read.error().message;
    return wrong(field, why.find("is no unit") == std::string::npos
                            ? why
                            : fmt::format("{}; for example {}", why, field.example));
  }
  const double value = read->value();
  if (value < 0 || (value == 0 && !field.zero)) {
    return wrong(field,
                 fmt::format("write {} 0, for example {}", field.zero ? "at least" : "more than", field.example));
  }
  if (!(value <= field.most.most)) return wrong(field, limits::beyond(field.most));
  return value;
}

/// A quantity of Q, or of another dimension whose base unit is worth `other_scale` of Q's.
template <class Q, class Other = Q>
Result<double> one_of_two(std::string_view text, double scale, double other_scale = 0) {
  const Result<Q> first = parse_quantity<Q>(text);
  if (first) return first->value() * scale;
  const Result<Other> second = parse_quantity<Other>(text);
  if (second) return second->value() * other_scale;
  return first.error();
}

Result<double> price(Takes takes, std::string_view text) {
  switch (takes) {
    case Takes::rent: {
      const Result<double> rent = one_of_two<GpuRent, DollarsPerSecond>(text, 3600, 3600);
      return rent ? rent : one_of_two<GpuRent, Dollars>(text, 3600, 1);
    }
    case Takes::dollars: {
      using DollarsPerGpu = Quantity<Dimension<0, 0, 0, 0, 1, 0, -1>>;
      return one_of_two<Dollars, DollarsPerGpu>(text, 1, 1);
    }
    case Takes::dollars_per_kwh:
      return one_of_two<DollarsPerJoule>(text, 3.6e6);
    case Takes::dollars_per_kw_month:
      return one_of_two<DollarsPerJoule>(text, 3.6e6 * kHoursOfMonth);
    case Takes::dollars_per_year:
      return one_of_two<Dollars, GpuRent>(text, 1, kSecondsOfYear);
    case Takes::dollars_per_month:
      return one_of_two<Dollars, DollarsPerSecond>(text, 1, kSecondsOfMonth);
    case Takes::dollars_per_million:
      return one_of_two<Dollars, DollarsPerToken>(text, 1, 1e6);
    case Takes::years:
      return one_of_two<Seconds>(text, 1 / kSecondsOfYear);
    case Takes::hours:
      return one_of_two<Seconds>(text, 1 / 3600.0);
    case Takes::power:
      return one_of_two<Watts>(text, 1);
    case Takes::tokens_per_s: {
      const Result<double> bare = parse_count(text);
      return bare ? bare : one_of_two<TokensPerSecond>(text, 1);
    }
    default:
      return parse_count(text);
  }
}

Result<double> price_from_zero(const Field& field, std::string_view text) {
  const Result<double> value = price(field.takes, text);
  if (!value) return wrong(field, value.error().message);
  if (*value < 0) return wrong(field, fmt::format("{} is below 0", text));
  if (field.takes == Takes::tally && *value != std::floor(*value)) {
    return wrong(field, fmt::format("{} is no whole number", text));
  }
  if (!(*value <= limits::kNumber.most)) return wrong(field, limits::beyond(limits::kNumber));
  return value;
}

/// "2", "2.5" or "2:1", from 1 to the limit.
Result<double> ratio_from_one(const Field& field, std::string_view text) {
  if (text.ends_with(":1")) text.remove_suffix(2);
  const Result<double> value = parse_count(text);
  if (!value) return wrong(field, value.error().message);
  if (*value < 1) return wrong(field, "write 1 or more");
  if (!(*value <= field.most.most)) return wrong(field, limits::beyond(field.most));
  return value;
}

Result<double> word_value(const Field& field, std::string_view text) {
  if (field.parse != nullptr) {
    const Result<int> value = field.parse(text);
    if (!value) return wrong(field, value.error().message);
    return static_cast<double>(*value);
  }
  std::string known;
  for (const Word& word : field.words) {
    if (word.text == text) return static_cast<double>(word.value);
    known += (known.empty() ? "" : ", ") + std::string(word.text);
  }
  return wrong(field, fmt::format("{} is none of {}", quoted(text), known));
}

template <class Q>
Status read_member(const Field& field, const Member<Q>& member, std::string_view text, Q& query) {
  if (member.read != nullptr) {
    const Status read = member.read(text, query);
    return read ? read : Status(wrong(field, read.error().message));
  }
  if (member.name != nullptr) {
    const Result<double> good = read_value(field, text);
    if (!good) return good.error();
    query.*member.name = std::string(text);
    return {};
  }
  if (member.set == nullptr) return wrong(field, "is no part of this question");
  const Result<double> value = read_value(field, text);
  if (!value) return value.error();
  member.set(query, *value);
  return {};
}

template <class Q>
std::vector<Setting> settings(const Q& query, Member<Q> Field::*member,
                              std::span<const Field> fields = deployment_fields()) {
  static const Q kUsual{};
  std::vector<Setting> out;
  for (const Field& field : fields) {
    const Member<Q>& m = field.*member;
    if (m.write != nullptr) {
      if (std::string text = m.write(query); !text.empty()) out.push_back({&field, std::move(text)});
    } else if (m.name != nullptr) {
      if (!(query.*m.name).empty()) out.push_back({&field, query.*m.name});
    } else if (m.get != nullptr) {
      const double value = m.get(query);
      if (std::isnan(value) || (!m.always && value == m.get(kUsual))) continue;
      out.push_back({&field, write_value(field, value)});
    }
  }
  return out;
}

}  // namespace

const Field* find_field(std::string_view key) {
  for (const std::span<const Field> all : {deployment_fields(), rl_fields()}) {
    const auto at = std::find_if(all.begin(), all.end(), [&](const Field& f) { return f.key == key; });
    if (at != all.end()) return &*at;
  }
  return nullptr;
}

std::string flag_of(const Field& field) {
  std::string flag = "--" + std::string(field.key);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

Result<double> read_value(const Field& field, std::string_view text) {
  switch (field.takes) {
    case Takes::whole: {
      const Result<double> number = number_in_range(field, text);
      if (number && *number != std::floor(*number)) return wrong(field, fmt::format("{} is no whole number", text));
      return number;
    }
    case Takes::count:
      return number_in_range(field, text);
    case Takes::per_second:
      return per_second(field, text);
    case Takes::share: {
      const Result<double> share = parse_share(text);
      if (!share) return wrong(field, share.error().message);
      return share;
    }
    case Takes::watts:
      if (!field.example.empty()) return quantity_like<Watts>(field, text);
      return quantity_above_zero<Watts>(field, text, "power", "500W");
    case Takes::rate:
      if (!field.example.empty()) return quantity_like<BytesPerSecond>(field, text);
      return quantity_above_zero<BytesPerSecond>(field, text, "rate", "2GB/s");
    case Takes::gibibytes: {
      const Result<double> number = number_in_range(field, text);
      if (!number) return number;
      return *number * kGibibyte;
    }
    case Takes::seconds:
      if (!field.example.empty()) return quantity_like<Seconds>(field, text);
      return quantity_above_zero<Seconds>(field, text, "time", "30s");
    case Takes::bytes:
      return quantity_like<Bytes>(field, text);
    case Takes::mass:
      return quantity_like<Kilograms>(field, text);
    case Takes::load:
      return quantity_like<KilogramsPerSquareMetre>(field, text);
    case Takes::money: {
      // So much a month is twelve times as much in the year that is meant.
      const Result<DollarsPerSecond> running = parse_quantity<DollarsPerSecond>(text);
      if (!running) return quantity_like<Dollars>(field, text);
      return quantity_like<Dollars>(field, fmt::format("${:.17g}", running->value() * kSecondsOfYear));
    }
    case Takes::ratio:
      return ratio_from_one(field, text);
    case Takes::rent:
    case Takes::dollars:
    case Takes::dollars_per_kwh:
    case Takes::dollars_per_kw_month:
    case Takes::dollars_per_year:
    case Takes::dollars_per_month:
    case Takes::dollars_per_million:
    case Takes::years:
    case Takes::hours:
    case Takes::power:
    case Takes::tokens_per_s:
    case Takes::amount:
    case Takes::tally:
      return price_from_zero(field, text);
    case Takes::formats: {
      for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const Result<Format> format = parse_format(trimmed(rest.substr(0, comma)));
        if (!format) return wrong(field, format.error().message);
        if (comma == std::string_view::npos) return 0.0;
        rest.remove_prefix(comma + 1);
      }
    }
    case Takes::parsed: {
      const Status good = field.check(text);
      if (!good) return wrong(field, good.error().message);
      return 0.0;
    }
    case Takes::pixels: {
      const std::size_t cross = text.find('x');
      const Result<double> width = number_in_range(field, text.substr(0, cross));
      if (!width) return width;
      return cross == std::string_view::npos ? width : number_in_range(field, text.substr(cross + 1));
    }
    case Takes::counts: {
      constexpr auto kMostListed = 1000;  // no curve shows more
      if (std::count(text.begin(), text.end(), ',') >= kMostListed) {
        return wrong(field, fmt::format("at most {} numbers in a list", kMostListed));
      }
      for (std::string_view rest = text;;) {
        const std::size_t comma = rest.find(',');
        const Result<double> number = number_in_range(field, rest.substr(0, comma));
        if (!number || comma == std::string_view::npos) return number;
        rest.remove_prefix(comma + 1);
      }
    }
    case Takes::format: {
      const Result<Format> format = parse_format(text);
      if (!format) return wrong(field, format.error().message);
      return static_cast<double>(*format);
    }
    case Takes::word:
      return word_value(field, text);
    case Takes::on:
      if (text == "true" || text == "false") return text == "true" ? 1.0 : 0.0;
      return wrong(field, fmt::format("{} is neither true nor false", quoted(text)));
    case Takes::release: {
      const Status release = check_release(text);
      if (!release) return wrong(field, release.error().message);
      return 0.0;
    }
    case Takes::model:
    case Takes::device:
    case Takes::system:
    case Takes::engine:
    case Takes::text:
    case Takes::file:
    case Takes::named:
      return 0.0;
  }
  return 0.0;
}

Status check_value(const Field& field, std::string_view text) {
  if (const std::optional<ForeignMoney> other = field.foreign ? foreign_money(text) : std::nullopt) {
    const Result<double> read = read_value(field, other->as_dollars);
    return read ? Status() : Status(read.error());
  }
  if (field.takes != Takes::text || field.rl.read == nullptr) {
    const Result<double> read = read_value(field, text);
    return read ? Status() : Status(read.error());
  }
  RlQuery unused;
  return read(field, text, unused);
}

Status check_release(std::string_view text) {
  constexpr std::size_t kLongest = 40;
  // llama.cpp counts builds: b5092.
  const std::string_view digits = text.starts_with('v') || text.starts_with('b') ? text.substr(1) : text;
  const auto usual = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' || c == '-' ||
           c == '+' || c == '_';
  };
  constexpr std::size_t kLongestPart = 8;  // a date
  std::size_t run = 0;
  const std::string_view rest = digits.substr(std::min(digits.size(), digits.find_first_not_of("0123456789.")));
  const bool named = rest.empty() || std::string_view("-+_").find(rest[0]) != std::string_view::npos ||
                     rest.starts_with("rc") || rest.starts_with("post") || rest.starts_with("dev") ||
                     rest.starts_with("alpha") || rest.starts_with("beta");
  bool sensible = named && !digits.empty() && digits[0] >= '0' && digits[0] <= '9' && digits.size() <= kLongest;
  for (const char c : digits) {
    run = c >= '0' && c <= '9' ? run + 1 : 0;
    sensible = sensible && usual(c) && run <= kLongestPart;
  }
  if (sensible) return {};
  return Error{ErrorCode::bad_input, "", quoted(text) + " is no release: write its number, for example 0.12"};
}

namespace {

std::string with_unit(Takes takes, double value) {
  switch (takes) {
    case Takes::mass:
      return exact(value) + "kg";
    case Takes::load:
      return exact(value) + "kg/m2";
    case Takes::dollars_per_kwh:
      return "$" + exact(value) + "/kWh";
    case Takes::dollars_per_kw_month:
      return "$" + exact(value) + "/kW-month";
    case Takes::years:
      return exact(value) + "years";
    case Takes::hours:
      return exact(value) + "h";
    default:
      return "$" + exact(value);
  }
}

/// Units are multiplied and divided by, which may miss by a last digit: the neighbour whose text reads as the value.
std::string text_that_reads(const Field& field, double value) {
  constexpr int kNeighbours = 8;
  double up = value;
  double down = value;
  for (int i = 0; i < kNeighbours; ++i) {
    for (const double near : {up, down}) {
      const Result<double> read = read_value(field, with_unit(field.takes, near));
      if (read && *read == value) return with_unit(field.takes, near);
    }
    up = std::nextafter(up, INFINITY);
    down = std::nextafter(down, -INFINITY);
  }
  return with_unit(field.takes, value);
}

}  // namespace

std::string write_value(const Field& field, double value) {
  switch (field.takes) {
    case Takes::watts:
    case Takes::power:
      return exact(value) + "W";
    case Takes::rate:
      return exact(value) + "B/s";
    case Takes::seconds:
      return exact(value) + "s";
    case Takes::bytes:
      return exact(value) + "B";
    case Takes::mass:
    case Takes::load:
    case Takes::money:
    case Takes::rent:
    case Takes::dollars:
    case Takes::dollars_per_year:
    case Takes::dollars_per_month:
    case Takes::dollars_per_million:
    case Takes::dollars_per_kwh:
    case Takes::dollars_per_kw_month:
    case Takes::years:
    case Takes::hours:
      return text_that_reads(field, value);
    case Takes::gibibytes:
      return exact(value / kGibibyte);
    case Takes::format:
      return std::string(name(static_cast<Format>(static_cast<int>(value))));
    case Takes::word:
      for (const Word& word : field.words) {
        if (word.value == static_cast<int>(value)) return std::string(word.text);
      }
      return {};
    case Takes::on:
      return value != 0 ? "true" : "false";
    default:
      return exact(value);
  }
}

Status read(const Field& field, std::string_view text, InferenceQuery& query) {
  return read_member(field, field.infer, text, query);
}

Status read(const Field& field, std::string_view text, TrainingQuery& query) {
  return read_member(field, field.train, text, query);
}

Status read(const Field& field, std::string_view text, RlQuery& query) {
  if (field.rl) return read_member(field, field.rl, text, query);
  return read_member(field, field.train, text, query.training);
}

Status read_any(const Field& field, std::string_view text, const void* kind, void* query) {
  const AnyMember& member = field.own.kind == kind ? field.own : field.other;
  if (member.kind != kind) return wrong(field, "is no part of this question");
  const Result<double> value = read_value(field, text);
  if (!value) return value.error();
  if (member.read != nullptr) {
    const Status read = member.read(text, query);
    return read ? read : Status(wrong(field, read.error().message));
  }
  member.set(query, *value);
  return {};
}

std::vector<Setting> settings_any(std::span<const Field> fields, const void* kind, const void* query,
                                  const void* usual) {
  std::vector<Setting> out;
  for (const Field& field : fields) {
    const AnyMember& member = field.own.kind == kind ? field.own : field.other;
    if (member.kind != kind) continue;
    if (member.write != nullptr) {
      if (std::string text = member.write(query); !text.empty()) out.push_back({&field, std::move(text)});
      continue;
    }
    const double value = member.get(query);
    if (!std::isnan(value) && value != member.get(usual)) out.push_back({&field, write_value(field, value)});
  }
  return out;
}

std::vector<Setting> settings_of(const InferenceQuery& query) {
  return settings(query, &Field::infer);
}

std::vector<Setting> settings_of(const TrainingQuery& query) {
  return settings(query, &Field::train);
}

}  // namespace ridge::ask
