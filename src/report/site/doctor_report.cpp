#include "report/site/doctor_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Emphasis emphasis_of(const HostFinding& f) {
  if (f.outcome == HostOutcome::fine) return Emphasis::good;
  if (f.outcome != HostOutcome::broken) return Emphasis::faint;
  return f.rule->severity == Severity::failure   ? Emphasis::bad
         : f.rule->severity == Severity::warning ? Emphasis::warning
                                                 : Emphasis::none;
}

std::string verdict(const HostFinding& f) {
  return std::string(f.outcome == HostOutcome::broken ? name(f.rule->severity) : name(f.outcome));
}

/// A number with thousands apart, anything else as it is: "65,530".
std::string readable(const std::string& value) {
  const bool digits = !value.empty() && value.find_first_not_of("0123456789") == std::string::npos;
  return digits ? format_number(std::strtod(value.c_str(), nullptr), 16) : value;
}

/// "performance", "madvise or never", "not missing", "65,536 or more", "0".
std::string expected_of(const HostRule& rule) {
  // More than any host has: whoever asks for so much wants no limit.
  constexpr double kNoLimit = 1e12;
  if (rule.at_least) return *rule.at_least >= kNoLimit ? "unlimited" : format_number(*rule.at_least, 16) + " or more";
  if (rule.at_most) return *rule.at_most == 0 ? "0" : format_number(*rule.at_most, 16) + " at most";
  const bool wanted = !rule.one_of.empty();
  std::string text;
  for (const std::string& value : wanted ? rule.one_of : rule.none_of) text += (text.empty() ? "" : " or ") + value;
  return wanted ? text : "not " + text;
}

Table findings_table(const HostDiagnosis& host, bool all) {
  Table table;
  table.columns = {{.key = "verdict", .heading = "verdict"},
                   {.key = "rule", .heading = "check", .overflow = Overflow::wrap},
                   {.key = "expected", .heading = "expected", .overflow = Overflow::wrap},
                   {.key = "seen", .heading = "found", .overflow = Overflow::wrap},
                   {.key = "why", .heading = "why", .overflow = Overflow::wrap, .spare = 1},
                   {.key = "fix", .heading = "fix", .overflow = Overflow::wrap}};
  std::vector<const HostFinding*> order;
  for (const HostFinding& f : host.findings) {
    if (all || f.outcome == HostOutcome::broken) order.push_back(&f);
  }
  // Worst first, otherwise as the rules stand.
  const auto weight = [](const HostFinding* f) {
    return f->outcome == HostOutcome::broken ? 10 + static_cast<int>(f->rule->severity)
                                             : 5 - static_cast<int>(f->outcome);
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const HostFinding* a, const HostFinding* b) { return weight(a) > weight(b); });
  for (const HostFinding* f : order) {
    std::string why = f->rule->why;
    if (!f->rule->cost.empty()) why += "; costs " + f->rule->cost;
    const bool broken = f->outcome == HostOutcome::broken;
    table.rows.push_back({Cell(verdict(*f)).with(emphasis_of(*f)), Cell(f->rule->title), Cell(expected_of(*f->rule)),
                          f->seen.empty() ? Cell() : Cell(readable(f->seen)), broken ? Cell(why) : Cell(""),
                          broken ? Cell(f->rule->fix) : Cell("")});
  }
  return table;
}

std::string unseen_text(const HostDiagnosis& host) {
  std::string text;
  for (const HostFinding& f : host.findings) {
    if (f.outcome == HostOutcome::unseen) text += (text.empty() ? "" : ", ") + f.rule->fact;
  }
  return text;
}

std::string host_text(const HostDiagnosis& host) {
  const auto fact = [&](const char* key) {
    const auto at = host.facts.find(key);
    return at == host.facts.end() ? std::string() : at->second;
  };
  std::string text = fact("os.name").empty() ? fact("os.id") + " " + fact("os.version") : fact("os.name");
  if (!fact("kernel.release").empty()) text += ", kernel " + fact("kernel.release");
  if (fact("gpu.present") == "yes") {
    text += fmt::format(", {} × {}, driver {}", fact("gpu.count"), fact("gpu.name"), fact("gpu.driver"));
  } else {
    text += ", no accelerator seen";
  }
  if (fact("rdma.present") == "yes")
    text += fmt::format(", {} RDMA ports of {} Gb/s", fact("rdma.ports"), fact("rdma.rate"));
  return text;
}

}  // namespace

Document doctor_page(std::span<const HostDiagnosis> hosts, std::span<const FleetDifference> differences, bool all) {
  Document page;
  int failed = 0;
  for (const HostDiagnosis& host : hosts) failed += host.count(Severity::failure) > 0 ? 1 : 0;
  page.title = hosts.size() == 1 ? hosts[0].host : fmt::format("{} hosts, {} with failures", hosts.size(), failed);
  for (const HostDiagnosis& host : hosts) {
    const auto some = [](int count, std::string_view what) {
      return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
    };
    const std::string counts =
        fmt::format("{}, {}, {}, {} fine, {} not seen", some(host.count(Severity::failure), "failure"),
                    some(host.count(Severity::warning), "warning"), some(host.count(Severity::note), "note"),
                    host.count(HostOutcome::fine), host.count(HostOutcome::unseen));
    const std::string head = hosts.size() == 1 ? "" : host.host + ": ";
    page.blocks.emplace_back(Paragraph{head + host_text(host) + ". " + counts + ".",
                                       host.count(Severity::failure) > 0 ? Emphasis::bad : Emphasis::strong});
    Table table = findings_table(host, all);
    if (!table.rows.empty()) page.blocks.emplace_back(std::move(table));
    const std::string unseen = unseen_text(host);
    if (!unseen.empty() && !all) page.blocks.emplace_back(Paragraph{"Could not see: " + unseen + ".", Emphasis::faint});
  }
  if (!differences.empty()) {
    Table table;
    table.title = "Hosts differ";
    table.columns = {{.key = "fact", .heading = "fact"},
                     {.key = "value", .heading = "value"},
                     {.key = "hosts", .heading = "hosts", .overflow = Overflow::wrap}};
    for (const FleetDifference& d : differences) {
      for (const auto& [value, names] : d.hosts) {
        std::string list;
        for (const std::string& host : names) list += (list.empty() ? "" : ", ") + host;
        table.rows.push_back({Cell(d.fact), Cell(value), Cell(list)});
      }
    }
    page.blocks.emplace_back(std::move(table));
  }
  return page;
}

Json doctor_json(std::span<const HostDiagnosis> hosts, std::span<const FleetDifference> differences) {
  Json list = Json::array();
  for (const HostDiagnosis& host : hosts) {
    Json facts = Json::object();
    for (const auto& [key, value] : host.facts) facts.set(key, value);
    Json findings = Json::array();
    for (const HostFinding& f : host.findings) {
      findings.push(Json::object()
                        .set("rule", f.rule->id)
                        .set("area", f.rule->area)
                        .set("title", f.rule->title)
                        .set("outcome", name(f.outcome))
                        .set("severity", name(f.rule->severity))
                        .set("fact", f.rule->fact)
                        .set("seen", f.seen.empty() ? Json() : Json(f.seen))
                        .set("why", f.rule->why)
                        .set("fix", f.rule->fix)
                        .set("cost", f.rule->cost.empty() ? Json() : Json(f.rule->cost)));
    }
    list.push(Json::object()
                  .set("host", host.host)
                  .set("failures", host.count(Severity::failure))
                  .set("warnings", host.count(Severity::warning))
                  .set("notes", host.count(Severity::note))
                  .set("facts", std::move(facts))
                  .set("findings", std::move(findings)));
  }
  Json drift = Json::array();
  for (const FleetDifference& d : differences) {
    Json values = Json::object();
    for (const auto& [value, names] : d.hosts) {
      Json array = Json::array();
      for (const std::string& host : names) array.push(host);
      values.set(value, std::move(array));
    }
    drift.push(Json::object().set("fact", d.fact).set("hosts_by_value", std::move(values)));
  }
  return Json::object().set("schema", kDoctorSchema).set("hosts", std::move(list)).set("differences", std::move(drift));
}

Table doctor_table(std::span<const HostDiagnosis> hosts) {
  Table table;
  table.columns = {{.key = "host", .heading = "host"},
                   {.key = "rule", .heading = "rule"},
                   {.key = "verdict", .heading = "verdict"},
                   {.key = "fact", .heading = "fact"},
                   {.key = "seen", .heading = "seen"}};
  for (const HostDiagnosis& host : hosts) {
    for (const HostFinding& f : host.findings) {
      table.rows.push_back({Cell(host.host), Cell(f.rule->id), Cell(verdict(f)), Cell(f.rule->fact),
                            f.seen.empty() ? Cell() : Cell(f.seen)});
    }
  }
  return table;
}

}  // namespace ridge::report
