// estate.toml to numbers, every refusal with its line and column.
#include "fleet/estate/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "economics/economics_data.hpp"
#include "ridge/base/text.hpp"

namespace ridge::fleet {

Result<Estate> EstateReader::read() {
  estate_.file = file_;
  estate_.date = as_of_;
  TableReader t = entry_.root();
  general(t.table("estate"));
  exchange(t);
  each(t, "site", [&](TableReader s, const TomlNode& node) { site(s, node); });
  TableReader rules = t.table("policy");
  policy_rules(rules);
  each(t, "owned", [&](TableReader s, const TomlNode& node) { owned(s, node); });
  each(t, "offer", [&](TableReader s, const TomlNode& node) { offer(s, node); });
  each(t, "service", [&](TableReader s, const TomlNode& node) { service(s, node); });
  each(t, "api", [&](TableReader s, const TomlNode& node) { api(s, node); });
  each(t, "training", [&](TableReader s, const TomlNode& node) { job(s, node); });
  each(t, "budget", [&](TableReader s, const TomlNode& node) { budget(s, node); });
  if (const Status s = entry_.finish(); !s) return s.error();
  Problem& p = estate_.problem;
  if (p.services.empty() && p.jobs.empty())
    return nothing("service", "say what to serve or train: [[service]] or [[training]]");
  if (p.stocks.empty() && p.apis.empty())
    return nothing("offer", "say what there is to run it on: [[owned]] or [[offer]]");
  if (const std::string unused = exchange_.unknown(); !unused.empty()) {
    return Error{ErrorCode::bad_input, where(root_.find("exchange")->value, unused),
                 "no amount is in " + quoted(unused) + ", and no such currency is known: is it misspelt?"};
  }
  for (const std::string& used : exchange_.used()) p.assumptions.push_back(used);
  return std::move(estate_);
}

void EstateReader::general(TableReader t) {
  Problem& p = estate_.problem;
  p.start = t.date("start");
  if (t.failed()) return;
  if (p.start.size() < 7) return t.refuse("start", "write year and month, for example \"2026-12\"");
  p.months = t.optional_integer("months", 12, 1, kMostMonths);
  p.confidence = share(t, "confidence", 0.8);
  if (!(p.confidence >= 0.05 && p.confidence <= 0.99))
    t.refuse("confidence", "a probability between 5 % and 99 %, for example \"80%\"");
  owner_ = t.optional_text("owner").empty() ? "small-neocloud" : t.optional_text("owner");
  if (const auto owner = economics_.profile(owner_); !owner) t.refuse("owner", owner.error().message);
  (void)t.optional_text("name");
}

void EstateReader::exchange(TableReader& t) {
  TableReader table = t.table("exchange");
  const TomlMember* member = root_.find("exchange");
  if (member == nullptr) return;
  for (const TomlMember& rate : member->value.members) {
    const Result<Dollars> usd = parse_quantity<Dollars>(table.text(rate.key));
    if (!usd || !(usd->value() > 0))
      return table.refuse(rate.key, "write what one unit is worth, for example \"$0.14\"");
    if (const Status set = exchange_.set(rate.key, usd->value()); !set)
      return table.refuse(rate.key, set.error().message);
  }
}

Result<Estate> read_estate(const std::string& text, const std::string& file, const Knowledge& knowledge,
                           const EconomicsData& economics, const search::Policy& policy, const std::string& as_of,
                           bool may_name_files) {
  const Result<TomlNode> root = parse_toml(text, file);
  if (!root) return root.error();
  return EstateReader(*root, file, knowledge, economics, policy, as_of, may_name_files).read();
}

}  // namespace ridge::fleet
