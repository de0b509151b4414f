// The terminal page of a simulation.
#include "report/page/page.hpp"

#include <fmt/format.h>

#include "report/simulate/report.hpp"
#include "ridge/base/text.hpp"
#include "search/buyer/sentences.hpp"

namespace ridge::report {

namespace {

std::string duration(double s) {
  return format(Seconds(s));
}

Table served(const SimulationAnswer& a) {
  const SimulationResult& r = a.result;
  Table t = two_columns("Served");
  const auto add = [&](const char* what, std::string value) { t.rows.push_back({Cell(what), Cell(value)}); };
  add("requests", fmt::format("{} of {} in {}", format_number(static_cast<double>(r.finished), 9),
                              format_number(static_cast<double>(r.arrived), 9), duration(r.makespan)));
  add("throughput", fmt::format("{} requests/s, {} tok/s out, {} tok/s in and out", format_number(r.requests_per_s),
                                format_number(r.output_tokens_per_s), format_number(r.total_tokens_per_s)));
  const LatencyLimits& l = a.query.limits;
  if (l.ttft > 0 || l.tpot > 0 || l.e2e > 0) {
    std::string limits;
    if (l.ttft > 0) limits += fmt::format(", TTFT ≤ {}", duration(l.ttft));
    if (l.tpot > 0) limits += fmt::format(", TPOT ≤ {}", duration(l.tpot));
    if (l.e2e > 0) limits += fmt::format(", end to end ≤ {}", duration(l.e2e));
    const double share = r.arrived > 0 ? static_cast<double>(r.good) / static_cast<double>(r.arrived) : 0;
    add("goodput", fmt::format("{} requests/s, {} of all{}", format_number(r.goodput), percent(share, 1), limits));
  }
  add("in the system", fmt::format("{} running per replica, {} waiting, {} in all", format_number(r.mean_running),
                                   format_number(r.mean_queue), format_number(r.mean_in_system)));
  add("KV cache", fmt::format("{} full on average, {} at most, of {} tokens per replica", percent(r.mean_kv_share),
                              percent(r.peak_kv_share), format_count(r.kv_capacity_tokens)));
  if (r.preemptions > 0) {
    add("preemptions", fmt::format("{}, {} per request", format_number(static_cast<double>(r.preemptions), 9),
                                   format_number(static_cast<double>(r.preemptions) /
                                                 static_cast<double>(std::max<std::uint64_t>(1, r.finished)))));
  }
  if (r.cached_tokens > 0) {
    add("prefix cache", fmt::format("{} of the input was there", percent(static_cast<double>(r.cached_tokens) /
                                                                         static_cast<double>(r.input_tokens))));
  }
  if (r.rejected > 0) add("rejected", format_number(static_cast<double>(r.rejected), 9));
  if (r.timed_out > 0) add("timed out", format_number(static_cast<double>(r.timed_out), 9));
  if (r.transfer_seconds > 0) add("KV transfer", fmt::format("{} on average", duration(r.transfer_seconds)));
  if (a.query.policies.autoscaling) {
    add("engines", fmt::format("{} up on average, {} cold starts", format_number(r.mean_engines),
                               format_number(static_cast<double>(r.cold_starts), 9)));
  }
  if (r.failures > 0) {
    add("failures", fmt::format("{}, {} requests started over", format_number(static_cast<double>(r.failures), 9),
                                format_number(static_cast<double>(r.restarted), 9)));
  }
  if (a.load_share > 0) {
    add("load", fmt::format("{} of what full batches of such requests would give", percent(a.load_share)));
  }
  add("not idle", fmt::format("{} of the time at least one request runs on a replica", percent(r.busy_share)));
  if (r.energy_j > 0 && r.output_tokens > 0) {
    add("power",
        fmt::format("{} for {} {}, {} J per output token", format(Watts(r.mean_power_w)), format_number(r.gpus, 7),
                    r.gpus == 1 ? "GPU" : "GPUs", format_number(r.energy_j / static_cast<double>(r.output_tokens))));
  } else if (r.finished > 0) {
    add("power", "not published");
  }
  return t;
}

Table class_table(const SimulationResult& r) {
  Table t;
  t.title = "By class";
  t.columns = {{.key = "class", .heading = "class"},
               {.key = "requests", .heading = "requests", .kind = ColumnKind::number},
               {.key = "good", .heading = "good", .kind = ColumnKind::number},
               {.key = "ttft_p50", .unit = "s", .heading = "TTFT p50", .kind = ColumnKind::number},
               {.key = "ttft_p95", .unit = "s", .heading = "p95", .kind = ColumnKind::number},
               {.key = "tpot_p50", .unit = "s", .heading = "TPOT p50", .kind = ColumnKind::number},
               {.key = "tpot_p95", .unit = "s", .heading = "p95", .kind = ColumnKind::number},
               {.key = "e2e_p50", .unit = "s", .heading = "end to end p50", .kind = ColumnKind::number},
               {.key = "e2e_p95", .unit = "s", .heading = "p95", .kind = ColumnKind::number}};
  for (const ClassResult& c : r.classes) {
    const double good = c.finished > 0 ? static_cast<double>(c.good) / static_cast<double>(c.finished) : 0;
    t.rows.push_back({Cell(c.name), Cell(static_cast<double>(c.finished), 9), Cell(percent(good, 1)),
                      Cell(Seconds(c.ttft.p50())), Cell(Seconds(c.ttft.p95())), Cell(Seconds(c.tpot.p50())),
                      Cell(Seconds(c.tpot.p95())), Cell(Seconds(c.e2e.p50())), Cell(Seconds(c.e2e.p95()))});
  }
  return t;
}

Table tier_table(const SimulationResult& r) {
  Table t;
  t.title = "Memories below the device's";
  t.columns = {{.key = "tier", .heading = "tier"},
               {.key = "fetched", .unit = "tokens", .heading = "fetched", .kind = ColumnKind::number},
               {.key = "fetch", .unit = "s", .heading = "a fetch", .kind = ColumnKind::number},
               {.key = "recomputed", .unit = "tokens", .heading = "recomputed", .kind = ColumnKind::number},
               {.key = "lost", .unit = "tokens", .heading = "lost", .kind = ColumnKind::number},
               {.key = "peak", .unit = "bytes", .heading = "held at most", .kind = ColumnKind::number}};
  for (const TierResult& tier : r.tiers) {
    const double each = tier.fetches > 0 ? tier.fetch_seconds / static_cast<double>(tier.fetches) : 0;
    const auto tokens = [](std::uint64_t n) { return Cell(format_count(static_cast<double>(n))); };
    t.rows.push_back({Cell(tier.name), tokens(tier.fetched_tokens), tier.fetches > 0 ? Cell(Seconds(each)) : Cell(),
                      tokens(tier.declined_tokens), tokens(tier.lost_tokens), Cell(Bytes(tier.peak_bytes))});
  }
  return t;
}

Table size_table(const SimulationAnswer& a) {
  Table t;
  t.title = fmt::format("With another capacity of {}", a.query.policies.tiers.front().name);
  t.columns = {{.key = "capacity", .unit = "bytes", .heading = "capacity", .kind = ColumnKind::number},
               {.key = "held", .unit = "bytes", .heading = "held at most", .kind = ColumnKind::number},
               {.key = "cached", .heading = "of the input found", .kind = ColumnKind::number},
               {.key = "ttft", .unit = "s", .heading = "later turns TTFT p95", .kind = ColumnKind::number},
               {.key = "requests_per_s", .heading = "requests/s", .kind = ColumnKind::number}};
  for (const TierSize& s : a.sizes) {
    t.rows.push_back({s.capacity > 0 ? Cell(Bytes(s.capacity)) : Cell("none"), Cell(Bytes(s.peak_bytes)),
                      Cell(percent(s.cached_share, 1)), Cell(Seconds(s.later_ttft_p95)), Cell(s.requests_per_s)});
  }
  return t;
}

/// The smallest that loses less than one part in fifty against the largest.
std::string size_sentence(const SimulationAnswer& a) {
  constexpr double kGoodEnough = 1.02;
  const TierSize& best = a.sizes.back();
  const std::string& name = a.query.policies.tiers.front().name;
  for (const TierSize& s : a.sizes) {
    if (s.overloaded != best.overloaded || s.later_ttft_p95 > kGoodEnough * best.later_ttft_p95 ||
        kGoodEnough * s.requests_per_s < best.requests_per_s) {
      continue;
    }
    if (s.capacity <= 0) return fmt::format("Tier {} gains nothing here: without it later turns wait as long.", name);
    return fmt::format("{} of {} for each engine are enough: more shortens later turns by less than 2 %.",
                       format(Bytes(s.capacity)), name);
  }
  return "";
}

/// What RateSearch::limited_by stands for.
std::string_view limit_name(std::string_view limit) {
  return limit == "ttft"   ? "the time to first token"
         : limit == "tpot" ? "the time per output token"
         : limit == "e2e"  ? "the end-to-end latency"
                           : limit;
}

std::string devices(const DeploymentFacts& f, double gpus, int engines) {
  std::string text = fmt::format("{} × {}", format_number(gpus, 7), f.device);
  if (f.tp > 1) text += fmt::format(", TP {}", f.tp);
  if (f.pp > 1) text += fmt::format(", PP {}", f.pp);
  if (f.ep > 1) text += fmt::format(", EP {}", f.ep);
  if (f.dp > 1) text += fmt::format(", DP {}", f.dp);
  if (engines > 1) text += fmt::format(", {} replicas", engines);
  return text;
}

/// What one client alone sees, and so what the limit has to be at least.
std::string no_rate_sentence(const SimulationAnswer& a) {
  const SimulationResult& r = a.result;
  const LatencyLimits& l = a.query.limits;
  if (r.finished == 0) return "No rate meets the limits: no request can be served at all.";
  const std::string broken = broken_limit(r, l);
  struct Limit {
    std::string_view flag;
    double seconds;
    const LatencyDistribution& seen;
  };
  for (const Limit& limit : {Limit{"ttft", l.ttft, r.ttft}, {"tpot", l.tpot, r.tpot}, {"e2e", l.e2e, r.e2e}}) {
    if (limit.flag != broken) continue;
    const double needed = limit.seen.quantile(l.share);
    return fmt::format(
        "No rate meets the limits: one request at a time misses that of {} already, {} for {} of the "
        "requests where {} is asked. It takes --{} {} or more, or a faster deployment. The table is of "
        "one client that sends a request after the other.",
        limit_name(broken), format(Seconds(needed)), percent(l.share), format(Seconds(limit.seconds)), limit.flag,
        search::compact(Seconds(needed * 1.005)));
  }
  return fmt::format(
      "No rate meets the limits: one request at a time does, but requests that come by themselves miss "
      "that of {}, however few they are. The table is of one client that sends a request after the "
      "other.",
      limit_name(a.search->limited_by));
}

std::string search_sentence(const SimulationAnswer& a) {
  const RateSearch& s = *a.search;
  if (s.rate <= 0) return no_rate_sentence(a);
  const std::string highest = fmt::format("{} requests/s meet the limits for {} of the requests", format_number(s.rate),
                                          percent(a.query.limits.share));
  if (s.limited_by == "overload") {
    return fmt::format("{}; at {} more come than can be served.", highest, format_number(s.refused_rate));
  }
  return fmt::format("{}; at {} {} is too long.", highest, format_number(s.refused_rate), limit_name(s.limited_by));
}

std::string overload_sentence(const SimulationResult& r) {
  return fmt::format(
      "Overloaded: requests come faster than they leave; {} more wait every second. Means and percentiles grow with "
      "the "
      "length of the run and say nothing about a steady state. ⟦find_rate⟧ finds the rate it can hold.",
      format_number(r.growth_per_s));
}

}  // namespace

std::string offered_text(const OfferedLoad& l) {
  switch (l.kind) {
    case OfferedKind::rate:
      return fmt::format("{} {}/s", format_number(l.rate), l.rate == 1 ? "request" : "requests");
    case OfferedKind::concurrency:
      return fmt::format("{} {}", format_number(l.concurrency, 7), l.concurrency == 1 ? "client" : "clients");
    case OfferedKind::offline:
      return "all requests at once";
    case OfferedKind::trace:
      return l.speed == 1 ? "as recorded" : fmt::format("recorded, {} times as fast", format_number(l.speed));
  }
  return "";
}

std::string simulation_title(const SimulationAnswer& a) {
  const DeploymentFacts& f = a.result.facts;
  const SimulationResult& r = a.result;
  std::string text = a.query.deployment.model + " on ";
  if (r.prefill_engines > 0) {
    const double gpus = static_cast<double>(r.prefill_engines) * r.prefill_facts.gpus;
    text += fmt::format("{} for prompts and {} for decoding", devices(r.prefill_facts, gpus, r.prefill_engines),
                        devices(f, r.gpus - gpus, r.engines - r.prefill_engines));
  } else {
    text += (a.query.policies.autoscaling ? "up to " : "") + devices(f, r.gpus, r.engines);
  }
  text += fmt::format(", {} weights, {}", name(f.weights), f.era.empty() ? f.engine : f.era);
  return fmt::format("{} · {}, {}", text, a.query.workload.name, offered_text(a.query.load));
}

Table latencies_table(std::string title) {
  Table t;
  t.title = std::move(title);
  t.columns = {{.key = "measure", .heading = ""}};
  for (const char* column : {"mean", "p50", "p90", "p95", "p99", "max"}) {
    t.columns.push_back({.key = column, .unit = "s", .heading = column, .kind = ColumnKind::number});
  }
  return t;
}

void add_latencies(Table& t, const char* what, const LatencyDistribution& d) {
  if (d.count() == 0) return;
  t.rows.push_back({Cell(what), Cell(Seconds(d.mean())), Cell(Seconds(d.p50())), Cell(Seconds(d.p90())),
                    Cell(Seconds(d.p95())), Cell(Seconds(d.p99())), Cell(Seconds(d.greatest()))});
}

Table latency_table(const SimulationAnswer& a) {
  Table t = latencies_table("Latency");
  const auto add = [&](const char* what, const LatencyDistribution& d) { add_latencies(t, what, d); };
  const SimulationResult& r = a.result;
  add("time to first token", r.ttft);
  add("time per output token", r.tpot);
  add("inter-token latency", r.itl);
  add("end to end", r.e2e);
  add("queue time", r.wait);
  add("first turn: time to first token", r.first_turn_ttft);
  add("later turns: time to first token", r.later_turn_ttft);
  add("whole task", r.task);
  add("whole task without tools and people", r.task_busy);
  return t;
}

Table timeline_table(const SimulationResult& r) {
  Table t;
  t.columns = {{.key = "start", .unit = "s", .heading = "start", .kind = ColumnKind::number},
               {.key = "queue", .heading = "waiting", .kind = ColumnKind::number},
               {.key = "running", .heading = "running", .kind = ColumnKind::number},
               {.key = "kv_share", .heading = "KV cache", .kind = ColumnKind::number},
               {.key = "engines", .heading = "engines", .kind = ColumnKind::number},
               {.key = "arrivals", .unit = "per_s", .heading = "arrivals/s", .kind = ColumnKind::number},
               {.key = "output_tokens", .unit = "per_s", .heading = "tok/s out", .kind = ColumnKind::number}};
  for (const TimelinePoint& p : r.timeline) {
    t.rows.push_back({Cell(Seconds(p.start)), Cell(p.queue), Cell(p.running), Cell(p.kv_share), Cell(p.engines),
                      Cell(p.arrivals_per_s), Cell(p.output_tokens_per_s)});
  }
  return t;
}

Document simulation_page(const SimulationAnswer& a) {
  const SimulationResult& r = a.result;
  Document page;
  page.title = simulation_title(a);
  if (r.stopped_early) {
    page.blocks.emplace_back(Paragraph{"Ended early: what follows is what was known then.", Emphasis::warning});
  }
  if (a.search) page.blocks.emplace_back(Paragraph{search_sentence(a), Emphasis::strong});
  if (r.overloaded) page.blocks.emplace_back(Paragraph{overload_sentence(r), Emphasis::bad});
  if (r.too_long > 0) {
    page.blocks.emplace_back(Paragraph{
        fmt::format("{} requests can never fit: the longest has {} tokens, the KV cache of an engine holds {}. They "
                    "were turned away.",
                    format_number(static_cast<double>(r.too_long), 9),
                    format_number(static_cast<double>(r.longest_too_long), 9), format_count(r.kv_capacity_tokens)),
        Emphasis::warning});
  }
  page.blocks.emplace_back(latency_table(a));
  page.blocks.emplace_back(served(a));
  if (r.classes.size() > 1) page.blocks.emplace_back(class_table(r));
  if (!r.tiers.empty()) page.blocks.emplace_back(tier_table(r));
  if (!a.sizes.empty()) {
    page.blocks.emplace_back(size_table(a));
    if (const std::string said = size_sentence(a); !said.empty())
      page.blocks.emplace_back(Paragraph{said, Emphasis::strong});
  }
  const PredictionSpread& s = r.spread;
  if (s.tpot_low != s.tpot_high) {
    page.blocks.emplace_back(Paragraph{fmt::format(
        "Confidence: 80 % of measurements like this had {}–{} times the time to first token and {}–{} times "
        "the time per token that was predicted.",
        format_number(s.ttft_low), format_number(s.ttft_high), format_number(s.tpot_low), format_number(s.tpot_high))});
  }
  std::string assumed;
  for (const auto* list : {&a.assumptions, &r.assumptions}) {
    for (const std::string& text : *list) assumed += (assumed.empty() ? "Assumed: " : "; ") + text;
  }
  if (!assumed.empty()) page.blocks.emplace_back(Paragraph{assumed + ".", Emphasis::faint});
  return page;
}

}  // namespace ridge::report
