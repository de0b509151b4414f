#include "app/bench/bench_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/page/page.hpp"
#include "report/simulate/report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::bench {

namespace {

using report::percent;

constexpr double kClientLimit = 0.001;  ///< seconds at p99 that a generator may add
constexpr double kDelayShare = 0.05;    ///< or this share of the time per token
constexpr double kFewUnstamped = 0.01;  ///< of reads, that may be later than the kernel had the bytes

/// Whether reading late made times longer: where the kernel stamps, it did not.
bool reads_count(const BenchResult& r) {
  return static_cast<double>(r.unstamped) > kFewUnstamped * static_cast<double>(r.receive_delay.count());
}

std::string duration(double s) {
  return format(Seconds(s));
}
std::string count(std::uint64_t n) {
  return format_number(static_cast<double>(n), 9);
}
double share(std::uint64_t part, std::uint64_t of) {
  return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0;
}

Table latencies(const BenchResult& r) {
  Table t = report::latencies_table("Measured");
  const auto add = [&](const char* what, const LatencyDistribution& d) { report::add_latencies(t, what, d); };
  add("time to first token", r.ttft);
  add("time per output token", r.tpot);
  add(r.itl_per_token_share > 0.98 ? "between tokens" : "between chunks", r.itl);
  add("end to end", r.e2e);
  return t;
}

Table served(const BenchAnswer& a) {
  const BenchResult& r = a.measured;
  Table t = report::two_columns("Served");
  const auto add = [&](std::string_view what, const std::string& value) {
    t.rows.push_back({Cell(what), Cell(value)});
  };
  add("requests", fmt::format("{} of {} in {}, {} before to warm up", count(r.finished), count(r.sent),
                              duration(r.makespan), count(r.warmups)));
  for (const auto& [kind, n] : r.errors) {
    add("failed", fmt::format("{} × {}: {}", count(n), kind, r.error_text.at(kind)));
  }
  if (r.unfinished > 0) add("left open", fmt::format("{} when it was ended", count(r.unfinished)));
  add("throughput", fmt::format("{} requests/s, {} tok/s out, {} tok/s in and out", format_number(r.requests_per_s),
                                format_number(r.output_tokens_per_s), format_number(r.total_tokens_per_s)));
  const LatencyLimits& l = a.query.limits;
  if (l.ttft > 0 || l.tpot > 0 || l.e2e > 0) {
    add("goodput", fmt::format("{} requests/s, {} of all hold the limits", format_number(r.goodput),
                               percent(share(r.good, r.sent), 1)));
  }
  add("in flight", fmt::format("{} on average", format_number(r.mean_in_flight)));
  const double each = static_cast<double>(std::max<std::uint64_t>(1, r.finished));
  add("tokens",
      fmt::format("{} in and {} out per request, counted {}", format_number(static_cast<double>(r.input_tokens) / each),
                  format_number(static_cast<double>(r.output_tokens) / each),
                  r.counted_by_chunk == 0    ? "by the server"
                  : r.counted_by_server == 0 ? "by chunks: the server does not say"
                                             : "by the server and, where it does not say, by chunks"));
  if (r.short_answers > 0)
    add("short answers", fmt::format("{} ended before the length asked for", count(r.short_answers)));
  if (r.cached_tokens > 0)
    add("prefix cache", fmt::format("{} of the input was there", percent(share(r.cached_tokens, r.input_tokens))));
  if (r.server.samples > 0) {
    const ServerMetrics& m = r.server;
    add("server says",
        fmt::format("{}: {} running (at most {}), {} waiting (at most {}){}", m.kind, format_number(m.mean_running),
                    format_number(m.most_running), format_number(m.mean_waiting), format_number(m.most_waiting),
                    m.most_kv > 0
                        ? fmt::format(", KV cache {} full (at most {})", percent(m.mean_kv), percent(m.most_kv))
                        : ""));
  }
  const std::string limit = client_limit(r);
  const std::string sends =
      r.send_delay.count() == 0
          ? std::string()
          : fmt::format("sends {} late (p99 {}), ", duration(r.send_delay.p50()), duration(r.send_delay.p99()));
  const std::string begins =
      r.begun_with > 1 ? fmt::format("the first {} in {}, ", format_number(static_cast<double>(r.begun_with), 9),
                                     duration(r.begun_in))
                       : std::string();
  add("this client",
      fmt::format("{}{}reads {} late (p99 {}{}){}", sends, begins, duration(r.receive_delay.p50()),
                  duration(r.receive_delay.p99()), reads_count(r) ? "" : "; times are the kernel's all the same",
                  limit.empty() ? ": not the limit" : ""));
  return t;
}

Table comparison(const BenchAnswer& a) {
  Table t;
  t.title = "Beside the prediction for " + a.plan_title;
  t.columns = {{.key = "figure", .heading = ""},
               {.key = "measured", .heading = "measured", .kind = ColumnKind::number},
               {.key = "predicted", .heading = "predicted (80 %)", .kind = ColumnKind::number},
               {.key = "difference", .heading = "difference", .kind = ColumnKind::number},
               {.key = "inside", .heading = ""}};
  for (const Compared& c : compare(a)) {
    const Cell measured = c.is_time ? Cell(Seconds(c.measured)) : Cell(c.measured);
    const Cell predicted = c.is_time ? Cell::interval<Seconds>(c.predicted) : Cell::interval(c.predicted);
    t.rows.push_back({Cell(c.what), measured, predicted,
                      Cell(fmt::format("{:+.0f} %", 100 * (c.measured / c.predicted.mid - 1))),
                      c.inside() ? Cell("inside").with(Emphasis::good) : Cell("outside").with(Emphasis::bad)});
  }
  return t;
}

Json distribution(const LatencyDistribution& d) {
  Json out = Json::object();
  out.set("count", static_cast<double>(d.count())).set("mean_s", d.mean()).set("min_s", d.least());
  for (const int p : {1, 5, 10, 25, 50, 75, 90, 95, 99}) out.set(fmt::format("p{}_s", p), d.quantile(p / 100.0));
  out.set("p99_9_s", d.quantile(0.999)).set("max_s", d.greatest());
  return out;
}

}  // namespace

double client_delay(const BenchResult& r) {
  return std::max(r.send_delay.count() > 0 ? r.send_delay.p99() : 0, reads_count(r) ? r.receive_delay.p99() : 0);
}

std::string client_limit(const BenchResult& r) {
  if (r.begun_with > 1 && r.begun_in > kDelayShare * r.makespan) {
    return fmt::format(
        "This client took {} to send the requests that were due at the start, of {} in all: it, or this machine, was "
        "the limit. Run it on a machine with less to do, or for longer.",
        duration(r.begun_in), duration(r.makespan));
  }
  const double late = client_delay(r);
  if (late <= std::max(kClientLimit, kDelayShare * r.tpot.p50())) return {};
  return fmt::format(
      "This client was late by {} at p99: it, or this machine, was the limit, and the load was lighter than was asked "
      "for. Run it on a machine with less to do, or with fewer streams.",
      duration(late));
}

std::vector<Compared> compare(const BenchAnswer& a) {
  std::vector<Compared> out;
  if (!a.predicted) return out;
  const SimulationResult& p = *a.predicted;
  const BenchResult& m = a.measured;
  const auto times = [&](const char* key, const char* what, const LatencyDistribution& measured,
                         const LatencyDistribution& predicted, double low, double high) {
    if (measured.count() == 0 || predicted.count() == 0) return;
    for (const int q : {50, 90, 95, 99}) {
      const double mid = predicted.quantile(q / 100.0);
      out.push_back({fmt::format("{}_p{}", key, q),
                     fmt::format("{} p{}", what, q),
                     true,
                     measured.quantile(q / 100.0),
                     {mid * low, mid, mid * high}});
    }
  };
  times("ttft", "time to first token", m.ttft, p.ttft, p.spread.ttft_low, p.spread.ttft_high);
  times("tpot", "time per output token", m.tpot, p.tpot, p.spread.tpot_low, p.spread.tpot_high);
  const double rate = p.output_tokens_per_s;
  if (rate > 0) {
    out.push_back({"output_tok_per_s",
                   "output tok/s",
                   false,
                   m.output_tokens_per_s,
                   {rate * p.spread.throughput_low, rate, rate * p.spread.throughput_high}});
  }
  return out;
}

bool all_inside(const BenchAnswer& a) {
  const std::vector<Compared> all = compare(a);
  return std::all_of(all.begin(), all.end(), [](const Compared& c) { return c.inside(); });
}

std::vector<std::string> reasons(const BenchAnswer& a) {
  std::vector<std::string> out;
  if (!a.predicted) return out;
  const SimulationResult& p = *a.predicted;
  const BenchResult& m = a.measured;
  const auto ratio = [](double measured, double predicted) { return predicted > 0 ? measured / predicted : 1; };
  const double ttft = ratio(m.ttft.p50(), p.ttft.p50());
  const double tpot = ratio(m.tpot.p50(), p.tpot.p50());
  if (const std::string limit = client_limit(m); !limit.empty()) out.push_back(limit);
  if (m.failed > 0)
    out.push_back(fmt::format("{} requests failed: the rest met a lighter load than was predicted.", count(m.failed)));
  if (m.short_answers > m.finished / 20) {
    out.push_back(
        fmt::format("{} answers ended early: the server does not heed ignore_eos, so batches were smaller. Take a "
                    "workload with the lengths it really answers with.",
                    count(m.short_answers)));
  }
  if (m.server.samples > 0 && p.mean_running > 0 && m.server.most_running > 0 && m.server.most_waiting > 0 &&
      m.server.most_running < 0.8 * p.mean_running) {
    out.push_back(
        fmt::format("The server ran {} at once at most while others waited; the plan runs {} on average: raise "
                    "--max-num-seqs (vLLM), --max-running-requests (SGLang), --parallel (llama.cpp), or say "
                    "⟦max_sequences⟧ in the plan.",
                    format_number(m.server.most_running), format_number(p.mean_running)));
  }
  const double hit = share(m.cached_tokens, m.input_tokens);
  const double expected = share(p.cached_tokens, p.input_tokens);
  if (std::abs(hit - expected) > 0.1) {
    out.push_back(
        fmt::format("The server found {} of the input in its prefix cache, the plan expects {}: see "
                    "--enable-prefix-caching (vLLM), --disable-radix-cache (SGLang), or ⟦no_prefix_cache⟧ in the plan.",
                    percent(hit), percent(expected)));
  }
  if (ttft > 1.25 && tpot < 1.25) {
    out.push_back(
        "Prompts take longer than predicted and tokens do not: fewer tokens in a step (--max-num-batched-tokens), "
        "a queue before the engine, or a slow tokenizer or front end.");
  }
  if (ttft < 0.8 && tpot > 0.8)
    out.push_back("Prompts are faster than predicted: a larger step, or part of them was cached.");
  if (tpot > 1.25) {
    out.push_back(
        "Decode steps take longer than predicted: is it started with the precision and GPUs of the plan, with CUDA "
        "graphs (no --enforce-eager), and alone on its devices?");
  }
  if (tpot < 0.8) {
    out.push_back(
        "Decode steps are faster than predicted: speculative decoding, a lower precision, or a newer engine than "
        "the plan's.");
  }
  return out;
}

Document bench_page(const BenchAnswer& a) {
  const BenchResult& r = a.measured;
  Document page;
  page.title =
      fmt::format("{} · {} · {}, {}", r.url, r.model, a.query.workload.name, report::offered_text(a.query.load));
  if (r.stopped_early)
    page.blocks.emplace_back(Paragraph{"Ended early: what was measured until then.", Emphasis::warning});
  if (r.finished == 0) {
    page.blocks.emplace_back(Paragraph{"No request was answered.", Emphasis::bad});
  } else {
    page.blocks.emplace_back(latencies(r));
  }
  page.blocks.emplace_back(served(a));
  if (const std::string limit = client_limit(r); !limit.empty() && !a.predicted) {
    page.blocks.emplace_back(Paragraph{limit, Emphasis::warning});
  }
  if (!a.predicted) return page;
  page.blocks.emplace_back(comparison(a));
  const std::vector<std::string> why = reasons(a);
  if (!all_inside(a) || !why.empty()) {
    std::string text = all_inside(a) ? "Worth knowing:" : "Outside the interval. Why it may be:";
    for (const std::string& one : why) text += " " + one;
    if (why.empty()) text += " nothing that the server says explains it; ⟦learn⟧ takes it into account from now on.";
    page.blocks.emplace_back(Paragraph{text, all_inside(a) ? Emphasis::none : Emphasis::warning});
  }
  std::string assumed;
  for (const std::string& one : a.assumptions) assumed += (assumed.empty() ? "Predicted with: " : "; ") + one;
  if (!assumed.empty()) page.blocks.emplace_back(Paragraph{assumed + ".", Emphasis::faint});
  return page;
}

Json bench_json(const BenchAnswer& a) {
  const BenchResult& r = a.measured;
  const auto number = [](std::uint64_t n) { return static_cast<double>(n); };
  Json out = Json::object();
  out.set("schema", kBenchSchema).set("url", r.url).set("model", r.model).set("date", a.date);
  Json load = Json::object();
  load.set("workload", a.query.workload.name).set("endpoint", a.chat ? "chat" : "completions");
  switch (a.query.load.kind) {
    case OfferedKind::rate:
      load.set("requests_per_s", a.query.load.rate);
      break;
    case OfferedKind::concurrency:
      load.set("concurrency", a.query.load.concurrency);
      break;
    case OfferedKind::offline:
      load.set("offline", true);
      break;
    case OfferedKind::trace:
      load.set("trace_speed", a.query.load.speed);
      break;
  }
  out.set("load", load.set("seed", static_cast<double>(a.query.seed)));
  Json measured = Json::object();
  measured.set("sent", number(r.sent)).set("finished", number(r.finished)).set("failed", number(r.failed));
  measured.set("unfinished", number(r.unfinished)).set("warmups", number(r.warmups)).set("good", number(r.good));
  Json errors = Json::object();
  for (const auto& [kind, n] : r.errors)
    errors.set(kind, Json::object().set("count", number(n)).set("first", r.error_text.at(kind)));
  measured.set("errors", errors).set("stopped_early", r.stopped_early).set("makespan_s", r.makespan);
  measured.set("requests_per_s", r.requests_per_s).set("output_tok_per_s", r.output_tokens_per_s);
  measured.set("total_tok_per_s", r.total_tokens_per_s)
      .set("goodput_per_s", r.goodput)
      .set("mean_in_flight", r.mean_in_flight);
  measured.set("input_tokens", number(r.input_tokens)).set("output_tokens", number(r.output_tokens));
  measured.set("cached_tokens", number(r.cached_tokens)).set("short_answers", number(r.short_answers));
  measured.set("tokens_counted", r.counted_by_chunk == 0 ? "server" : r.counted_by_server == 0 ? "chunks" : "both");
  measured.set("ttft", distribution(r.ttft))
      .set("tpot", distribution(r.tpot))
      .set("itl", distribution(r.itl))
      .set("e2e", distribution(r.e2e));
  Json client = Json::object();
  client.set("send_delay", distribution(r.send_delay)).set("receive_delay", distribution(r.receive_delay));
  client.set("begun_with", number(r.begun_with)).set("begun_in_s", r.begun_in);
  client.set("times_are", reads_count(r) ? "when bytes were read" : "the kernel's").set("late_p99_s", client_delay(r));
  measured.set("client", client.set("is_the_limit", !client_limit(r).empty()));
  if (r.server.samples > 0) {
    const ServerMetrics& m = r.server;
    measured.set("server", Json::object()
                               .set("kind", m.kind)
                               .set("samples", m.samples)
                               .set("mean_running", m.mean_running)
                               .set("most_running", m.most_running)
                               .set("mean_waiting", m.mean_waiting)
                               .set("most_waiting", m.most_waiting)
                               .set("mean_kv_share", m.mean_kv)
                               .set("most_kv_share", m.most_kv));
  }
  out.set("measured", measured);
  if (!a.predicted) return out;
  Json figures = Json::array();
  for (const Compared& c : compare(a)) {
    const std::string unit = c.is_time ? "_s" : "";
    figures.push(Json::object()
                     .set("figure", c.key)
                     .set("measured" + unit, c.measured)
                     .set("predicted" + unit, c.predicted.mid)
                     .set("low" + unit, c.predicted.low)
                     .set("high" + unit, c.predicted.high)
                     .set("inside", c.inside()));
  }
  Json why = Json::array();
  for (const std::string& one : reasons(a)) why.push(one);
  Json assumed = Json::array();
  for (const std::string& one : a.assumptions) assumed.push(one);
  out.set("prediction", Json::object()
                            .set("plan", a.plan_title)
                            .set("all_inside", all_inside(a))
                            .set("figures", figures)
                            .set("reasons", why)
                            .set("assumptions", assumed));
  return out;
}

Json vllm_json(const BenchAnswer& a) {
  const BenchResult& r = a.measured;
  Json out = Json::object();
  out.set("date", a.date)
      .set("endpoint_type", a.chat ? "openai-chat" : "openai")
      .set("backend", r.server.kind.empty() ? "openai" : "vllm");
  out.set("label", Json())
      .set("model_id", r.model)
      .set("tokenizer_id", r.model)
      .set("num_prompts", static_cast<double>(r.sent));
  out.set("request_rate", a.query.load.kind == OfferedKind::rate ? Json(a.query.load.rate) : Json("inf"));
  out.set("burstiness", 1.0);
  out.set("max_concurrency", a.query.load.kind == OfferedKind::concurrency ? Json(a.query.load.concurrency) : Json());
  out.set("duration", r.makespan)
      .set("completed", static_cast<double>(r.finished))
      .set("failed", static_cast<double>(r.failed));
  out.set("total_input_tokens", static_cast<double>(r.input_tokens))
      .set("total_output_tokens", static_cast<double>(r.output_tokens));
  out.set("request_throughput", r.requests_per_s).set("request_goodput", r.goodput);
  out.set("output_throughput", r.output_tokens_per_s).set("total_token_throughput", r.total_tokens_per_s);
  const auto add = [&](const char* key, const LatencyDistribution& d) {
    out.set(fmt::format("mean_{}_ms", key), 1e3 * d.mean()).set(fmt::format("median_{}_ms", key), 1e3 * d.p50());
    for (const int q : {90, 95, 99}) out.set(fmt::format("p{}_{}_ms", q, key), 1e3 * d.quantile(q / 100.0));
  };
  add("ttft", r.ttft);
  add("tpot", r.tpot);
  add("itl", r.itl);
  add("e2el", r.e2e);
  return out;
}

std::string evidence_header() {
  return "id,source,date,engine,engine_version,model,device,gpus,tp,pp,ep,dp,weight_precision,activation_precision,"
         "kv_precision,mode,isl,osl,length_range,batch,concurrency,requests,output_tok_s,total_tok_s,ttft_ms,tpot_ms,"
         "e2e_ms,"
         "power_w,"
         "joules_per_output_token,quality,notes\n";
}

Result<std::string> evidence_row(const BenchAnswer& a, const std::string& id, const std::string& source) {
  const auto refuse = [](const char* why) { return Error{ErrorCode::refused, "evidence", why}; };
  if (!a.predicted) return refuse("a row says what ran: give the plan, or ⟦model⟧ and ⟦device⟧");
  const SimulationQuery& q = a.query;
  const bool fixed = !q.workload.trace && q.workload.classes.size() == 1 &&
                     q.workload.classes[0].input.kind == LengthKind::fixed &&
                     q.workload.classes[0].output.kind == LengthKind::fixed;
  if (q.load.kind != OfferedKind::concurrency || !fixed) {
    return refuse("a row is a closed loop of fixed lengths: ⟦concurrency⟧, ⟦isl⟧ and ⟦osl⟧");
  }
  const BenchResult& r = a.measured;
  if (r.finished == 0) return refuse("no request was answered");
  const DeploymentFacts& f = a.predicted->facts;
  const double each = static_cast<double>(r.finished);
  return fmt::format(
      "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},closed-loop,{:.0f},{:.0f},1,,{:.0f},{},{:.6g},{:.6g},{:.6g},{:.6g},"
      "{:.6g},,,A,"
      "\"means; ridge bench, {} requests, {:.1f} s, {} failed; client late by {:.2g} ms at p99; tokens in as counted: "
      "{:.1f}\"\n",
      id, source, a.date.substr(0, 10), q.deployment.engine.empty() ? f.engine : q.deployment.engine,
      q.deployment.engine_version, q.deployment.model, f.device, f.gpus, f.tp, f.pp, f.ep, f.dp, name(f.weights),
      name(f.activations), name(f.kv), q.workload.mean_input(), q.workload.mean_output(), q.load.concurrency, r.sent,
      r.output_tokens_per_s, r.total_tokens_per_s, 1e3 * r.ttft.mean(), 1e3 * r.tpot.mean(), 1e3 * r.e2e.mean(),
      r.finished, r.makespan, r.failed, 1e3 * client_delay(r), static_cast<double>(r.input_tokens) / each);
}

}  // namespace ridge::bench
