// The flags of `ridge cost` that are no flags of `ridge estimate`: money, site, use.
//
//   CostFlags flags;
//   flags.declare(options);
//   CostQuery q = ...; q.given = flags.given_names();
//   if (Status s = flags.apply(c.inputs); !s) return s.error();       // what the line says wins over any default
//
// Values stay text until they are applied. Money without "per" is taken as what the flag is about ("$3.39" for
// --price).
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/options.hpp"
#include "economics/cost_case.hpp"
#include "ridge/cost.hpp"

namespace ridge::cli {

class CostFlags {
 public:
  CostFlags();
  /// The flags object must outlive the parsing.
  void declare(Options& options);

  [[nodiscard]] const std::string& value(std::string_view flag) const;
  [[nodiscard]] bool given(std::string_view flag) const { return !value(flag).empty(); }
  [[nodiscard]] bool is_on(std::string_view flag) const;
  void set(std::string_view flag, std::string value);
  void turn(std::string_view flag, bool on);
  [[nodiscard]] std::vector<std::string> given_names() const;

  /// Names and choices: mode, profile, region, provider, contract, exchange, spot.
  [[nodiscard]] Status fill(CostQuery& query) const;
  /// Numbers, over what the case found. Refuses (bad_input, `where` = the flag) what cannot be read.
  [[nodiscard]] Status apply(CostInputs& in) const;
  /// The same over a case: assumptions that a flag replaces are dropped.
  [[nodiscard]] Status apply(CostCase& cost_case) const;

  /// What --price takes, for other verbs.
  [[nodiscard]] static Takes rent();

  [[nodiscard]] Result<double> share(std::string_view flag, double otherwise) const;
  [[nodiscard]] Result<double> count(std::string_view flag, double otherwise, double low, double high) const;

 private:
  enum class Kind : std::uint8_t {
    text,
    toggle,
    rent,
    dollars,
    dollars_per_kwh,
    dollars_per_kw_month,
    dollars_per_year,
    years,
    hours,
    watts,
    share,
    per_hour,
    tokens_per_s,
    dollars_per_million,
    plain,
    dollars_per_month,
    whole,
  };
  struct Flag {
    std::string name;
    std::string value_name;
    std::string help;
    Kind kind = Kind::text;
    double CostInputs::*input = nullptr;
    double SitePower::*power = nullptr;
    Takes takes = {};
    std::string value = {};
    bool on = false;
  };
  [[nodiscard]] const Flag& find(std::string_view flag) const;
  [[nodiscard]] static Result<double> read(Kind kind, std::string_view text);
  [[nodiscard]] static Takes of_kind(const Flag& flag);
  std::deque<Flag> flags_;
};

}  // namespace ridge::cli
