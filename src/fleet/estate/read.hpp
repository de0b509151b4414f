// The reader of estates, cut in three: what is common (estate_read.cpp), what there is to run on (estate_supply.cpp:
// sites, policy, owned, offers), what is to be done (estate_demand.cpp: services, APIs, training, budgets).
#pragma once

#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "catalogue/files/table_reader.hpp"
#include "fleet/money.hpp"
#include "ridge/fleet/fleet.hpp"
#include "search/buyer/policy.hpp"

namespace ridge::fleet {

inline constexpr double kMostGpus = 1e7;

inline constexpr double kMostMoney = 1e15;

class EstateReader {
 public:
  EstateReader(const TomlNode& root, const std::string& file, const Knowledge& knowledge,
               const EconomicsData& economics, const search::Policy& policy, const std::string& as_of,
               bool may_name_files)
      : root_(root),
        file_(file),
        knowledge_(knowledge),
        economics_(economics),
        policy_(policy),
        as_of_(as_of),
        may_name_files_(may_name_files),
        exchange_(economics, as_of),
        layers_{{{&root, file}}},
        entry_("estate", layers_, sources_) {}

  Result<Estate> read();

 private:
  [[nodiscard]] Error nothing(const char* what, const char* message) const {
    return Error{ErrorCode::bad_input, file_ + ":1:1", fmt::format("there is no [[{}]]: {}", what, message)};
  }
  /// Refuses a model that nobody knows. Who may name no files gets its id, behind which nobody looks for a folder.
  [[nodiscard]] Status known(std::string& model) const;
  [[nodiscard]] std::string where(const TomlNode& node, std::string_view key = {}) const {
    const TomlMember* member = key.empty() ? nullptr : node.find(key);
    return member != nullptr ? place_text(file_, member->line, member->column)
                             : place_text(file_, node.line, node.column);
  }
  template <class Take>
  void each(TableReader& t, std::string_view key, const Take& take) {
    std::vector<TableReader> tables = t.tables(key);
    const TomlMember* member = root_.find(key);
    for (std::size_t i = 0; i < tables.size() && member != nullptr && i < member->value.items.size(); ++i) {
      if (entry_.root().failed()) return;
      take(tables[i], member->value.items[i]);
    }
  }
  int rule(RuleKind kind, int index, std::string text, std::string place, double amount, std::string unit) {
    estate_.problem.rules.push_back({kind, index, std::move(text), std::move(place), amount, std::move(unit)});
    return static_cast<int>(estate_.problem.rules.size()) - 1;
  }
  template <class Q>
  double money(TableReader& t, std::string_view key, double otherwise = 0) {
    if (!t.has(key)) return otherwise;
    const Result<double> value = exchange_.amount<Q>(t.text(key));
    if (!value) {
      t.refuse(key, value.error().message);
      return otherwise;
    }
    if (*value < 0) t.refuse(key, "an amount of money is not negative");
    if (*value > kMostMoney) t.refuse(key, "is more than all the money there is: at most $1e15");
    return *value;
  }
  double share(TableReader& t, std::string_view key, double otherwise) {
    if (!t.has(key)) return otherwise;
    const Result<double> value = parse_share(t.text(key));
    if (!value) t.refuse(key, value.error().message);
    return value ? *value : otherwise;
  }
  double count(TableReader& t, std::string_view key, double otherwise, double high) {
    return t.optional_count(key, 0, high).value_or(otherwise);
  }
  /// A month of the plan, counted from its start; may lie outside.
  int month(TableReader& t, std::string_view key, int otherwise) {
    if (!t.has(key)) return otherwise;
    const std::string date = t.date(key);
    if (t.failed()) return otherwise;  // this date, or the start that it is counted from
    if (date.size() < 7) {
      t.refuse(key, "write year and month, for example \"2027-03\"");
      return otherwise;
    }
    return months_of(date) - months_of(estate_.problem.start);
  }
  static int months_of(const std::string& date) {
    return 12 * std::stoi(date.substr(0, 4)) + std::stoi(date.substr(5, 2)) - 1;
  }

  /// Texts of which an empty list would mean nothing at all to some and everything to others.
  static std::vector<std::string> names(TableReader& t, std::string_view key) {
    std::vector<std::string> all = t.texts(key);
    if (t.has(key) && !t.failed() && all.empty()) t.refuse(key, "is an empty list: name one, or leave the key out");
    return all;
  }

  void general(TableReader t);
  void exchange(TableReader& t);

  void site(TableReader& t, const TomlNode& node);
  [[nodiscard]] const EnergyRegion* region_of(const std::string& word, const std::string& country) const;
  void electricity(TableReader& t, const TomlNode& node, Site& s);
  void policy_rules(TableReader& t);
  std::optional<int> site_named(TableReader& t, std::string_view key);
  /// Devices of this kind on this site; what stands against them becomes a rule.
  int pool_of(const Device& device, int site, bool owned);
  [[nodiscard]] bool is_from(const std::string& vendor, const std::string& country) const;
  std::optional<Device> device_named(TableReader& t, std::string_view key);
  void owned(TableReader& t, const TomlNode& node);
  void offer(TableReader& t, const TomlNode& node);
  /// Parts of a purchase: its price, and what a month bears of it.
  void buy(TableReader& t, const Device& device, Stock& s, std::string& basis);
  double trend(TableReader& t);

  /// Sites in these countries, regions or sites by name.
  std::vector<bool> sites_in(TableReader& t, std::string_view key, const std::vector<std::string>& words);
  void service(TableReader& t, const TomlNode& node);
  double growth_of(TableReader& t);
  void api(TableReader& t, const TomlNode& /*node*/);
  void job(TableReader& t, const TomlNode& node);
  void budget(TableReader& t, const TomlNode& node);

  static constexpr double kMostRequestTokensHere = 1e7;

  const TomlNode& root_;
  const std::string& file_;
  const Knowledge& knowledge_;
  const EconomicsData& economics_;
  const search::Policy& policy_;
  const std::string as_of_;
  const bool may_name_files_;
  Exchange exchange_;
  SourceIndex sources_;
  std::array<EntryLayer, 1> layers_;
  EntryReader entry_;
  Estate estate_;
  std::string owner_ = "small-neocloud";
  // By site.
  std::vector<std::string> licence_, country_name_, rack_where_, air_where_;
  std::vector<bool> excepted_;  ///< by pool: it is owned where no more of it may come
  std::vector<double> rack_w_;
  // Policy.
  std::vector<std::string> allowed_vendors_, avoid_, licences_, residency_;
  std::string residency_where_;
  int origin_rule_ = -1, avoid_rule_ = -1;
  std::vector<std::vector<std::string>> residency_of_;  ///< by service
};

}  // namespace ridge::fleet
