#include "app/cli/plan/fleet_ranks.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>

#include "ask/field.hpp"

namespace ridge::cli {

namespace {

/// Texts with their length before them; numbers to the last bit.
class RatedWriter {
 public:
  void text(std::string_view value) { out_ += fmt::format("{}:{}", value.size(), value); }
  void number(double value) { text(fmt::format("{:a}", value)); }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  std::string out_;
};

class RatedReader {
 public:
  explicit RatedReader(std::string_view bytes) : left_(bytes) {}
  [[nodiscard]] bool done() const { return left_.empty() || bad_; }
  [[nodiscard]] bool bad() const { return bad_; }
  std::string text() {
    std::size_t size = 0;
    const auto [end, code] = std::from_chars(left_.data(), left_.data() + left_.size(), size);
    const auto digits = static_cast<std::size_t>(end - left_.data());
    if (code != std::errc() || digits >= left_.size() || *end != ':' || size > left_.size() - digits - 1) {
      bad_ = true;
      return {};
    }
    std::string out(left_.substr(digits + 1, size));
    left_.remove_prefix(digits + 1 + size);
    return out;
  }
  double number() { return std::strtod(text().c_str(), nullptr); }
  std::size_t count() {
    const double value = number();
    bad_ = bad_ || !(value >= 0 && value <= static_cast<double>(left_.size() + 1));
    return bad_ ? 0 : static_cast<std::size_t>(value);
  }

 private:
  std::string_view left_;
  bool bad_ = false;
};

}  // namespace

std::string write_rated(int piece, const fleet::Rated& rated) {
  RatedWriter out;
  out.number(piece);
  out.number(rated.error ? 1 : 0);
  if (rated.error) {
    out.number(static_cast<double>(rated.error->code));
    out.text(rated.error->where);
    out.text(rated.error->message);
  }
  out.number(static_cast<double>(rated.options.size()));
  for (const fleet::Option& o : rated.options) {
    out.number(o.service);
    out.text(o.device);
    out.number(o.gpus);
    out.number(o.requests_per_s);
    out.number(o.watts);
    out.text(o.layout);
    out.number(o.slowness);
    const std::vector<ask::Setting> settings = ask::settings_of(*o.query);
    out.number(static_cast<double>(settings.size()));
    for (const ask::Setting& setting : settings) {
      out.text(setting.field->key);
      out.text(setting.value);
    }
  }
  out.number(static_cast<double>(rated.rates.size()));
  for (const fleet::JobRate& rate : rated.rates) {
    out.text(rate.device);
    out.number(rate.share_per_gpu_hour);
    out.number(rate.watts);
    out.text(rate.basis);
  }
  return out.take();
}

Status read_rated(std::string_view bytes, std::vector<fleet::Rated>& into) {
  const Error broken{ErrorCode::bad_input, "mpirun", "a rank sent what this version does not write"};
  RatedReader in(bytes);
  while (!in.done()) {
    const std::size_t piece = static_cast<std::size_t>(in.number());
    if (in.bad() || piece >= into.size()) return broken;
    fleet::Rated rated;
    if (in.number() != 0) {
      const auto code = static_cast<ErrorCode>(static_cast<int>(in.number()));
      const std::string where = in.text();
      rated.error = Error{code, where, in.text()};
    }
    for (std::size_t left = in.count(); left > 0 && !in.bad(); --left) {
      fleet::Option& o = rated.options.emplace_back();
      o.service = static_cast<int>(in.number());
      o.device = in.text();
      o.gpus = static_cast<int>(in.number());
      o.requests_per_s = in.number();
      o.watts = in.number();
      o.layout = in.text();
      o.slowness = in.number();
      o.query.emplace();
      for (std::size_t settings = in.count(); settings > 0 && !in.bad(); --settings) {
        const ask::Field* field = ask::find_field(in.text());
        const std::string value = in.text();
        if (field == nullptr) return broken;
        if (const Status s = ask::read(*field, value, *o.query); !s) return s;
      }
    }
    for (std::size_t left = in.count(); left > 0 && !in.bad(); --left) {
      fleet::JobRate& rate = rated.rates.emplace_back();
      rate.device = in.text();
      rate.share_per_gpu_hour = in.number();
      rate.watts = in.number();
      rate.basis = in.text();
    }
    into[piece] = std::move(rated);
  }
  return in.bad() ? Status(broken) : Status();
}

Result<fleet::Problem> rate_on_ranks(const search::Ranks& ranks, const fleet::Estate& estate,
                                     const Knowledge& knowledge, const EconomicsData* economics,
                                     const Patience& patience) {
  const int pieces = fleet::pieces_to_rate(estate);
  std::string mine;
  for (long piece = ranks.next(); piece < pieces; piece = ranks.next()) {
    const int at = static_cast<int>(piece);
    mine += write_rated(at, fleet::rate_piece(estate, at, knowledge, economics, patience));
  }
  std::vector<fleet::Rated> all(static_cast<std::size_t>(pieces));
  Status read;
  const Status gathered = ranks.gather(mine, [&](const std::string& bytes) {
    if (read) read = read_rated(bytes, all);
  });
  if (!gathered) return gathered.error();
  if (!read) return read.error();
  if (ranks.rank() != 0) return Error{ErrorCode::refused, "mpirun", "rank 0 has the answer"};
  return fleet::put_together(estate, std::move(all));
}

}  // namespace ridge::cli
