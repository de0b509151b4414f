// ridge goodput: how much of a long run survives failures, and what that costs.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "app/cli/cost.hpp"
#include "app/cli/offers.hpp"
#include "app/cli/progress.hpp"
#include "app/cli/value.hpp"
#include "app/cli/verbs.hpp"
#include "app/cli/wrong.hpp"
#include "economics/goodput_case.hpp"
#include "report/goodput_report.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

struct GoodputArguments {
  EstimateFlags estimate;
  std::string record, practice, tier, strategy, checkpoint_size, storage_bandwidth, interval, spares, detection,
      restart, repair, duration, calendar, stragglers, engineer_hours, unit, domain, price, mfu, trials, seed;
  std::vector<std::string> rates;
};

template <class Q>
Status read(std::string_view flag, const std::string& text, std::optional<double>& into) {
  if (text.empty()) return {};
  const Result<Q> value = parse_quantity<Q>(text);
  if (!value) return wrong(flag, value.error().message);
  into = value->value();
  return {};
}

Status read_count(std::string_view flag, const std::string& text, std::optional<double>& into) {
  if (text.empty()) return {};
  const Result<double> value = parse_count(text);
  if (!value) return wrong(flag, value.error().message);
  into = *value;
  return {};
}

/// "nvlink=5" → 5 interruptions per million GPU-hours.
Status read_rate(std::string_view text, GoodputQuery& q) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < kFailureCauses; ++i) names.push_back(name(static_cast<FailureCause>(i)));
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return wrong("--rate", "write CAUSE=N per million GPU-hours: gpu=9.2");
  const std::string_view cause = text.substr(0, equals);
  const auto at = std::find(names.begin(), names.end(), cause);
  if (at == names.end()) {
    const std::string near = nearest(cause, names.data(), names.size());
    return wrong("--rate", fmt::format("{} is no cause{}", quoted(cause),
                                       near.empty() ? ": gpu, hbm, scale-up, nic, network, node or software"
                                                    : "; did you mean " + near + "?"));
  }
  const Result<double> rate = parse_count(text.substr(equals + 1));
  if (!rate) return wrong("--rate", rate.error().message);
  q.rates.emplace_back(static_cast<FailureCause>(at - names.begin()), *rate / 1e6);
  return {};
}

Status fill_sizes(const GoodputArguments& a, GoodputQuery& q) {
  const auto all = {read<Bytes>("--checkpoint-size", a.checkpoint_size, q.checkpoint_bytes),
                    read<BytesPerSecond>("--storage-bandwidth", a.storage_bandwidth, q.storage_bytes_per_s),
                    read<Seconds>("--interval", a.interval, q.interval_s),
                    read<Seconds>("--detection", a.detection, q.detection_s),
                    read<Seconds>("--restart", a.restart, q.restart_s),
                    read<Seconds>("--repair", a.repair, q.repair_s),
                    read_count("--spares", a.spares, q.spare_gpus),
                    read_count("--unit", a.unit, q.unit_gpus),
                    read_count("--domain", a.domain, q.domain_gpus),
                    read_count("--engineer-hours", a.engineer_hours, q.engineer_hours)};
  for (const Status& s : all) {
    if (!s) return s;
  }
  if (!a.stragglers.empty()) {
    const Result<double> share = parse_share(a.stragglers);
    if (!share) return wrong("--stragglers", share.error().message);
    q.straggler_share = *share;
  }
  if (!a.strategy.empty()) {
    const Result<CheckpointStrategy> strategy = parse_checkpoint_strategy(a.strategy);
    if (!strategy) return wrong("--strategy", strategy.error().message);
    q.strategy = *strategy;
  }
  if (q.interval_s && !(*q.interval_s > 0)) return wrong("--interval", "write a time above 0, for example 30min");
  for (const std::string& rate : a.rates) {
    if (const Status s = read_rate(rate, q); !s) return s;
  }
  return {};
}

/// The length of the run: said, or tokens at the speed of an estimate or an MFU.
Status fill_length(Session& session, const GoodputArguments& a, GoodputQuery& q) {
  std::optional<double> useful, calendar;
  if (const Status s = read<Seconds>("--duration", a.duration, useful); !s) return s;
  if (const Status s = read<Seconds>("--calendar", a.calendar, calendar); !s) return s;
  if (useful && calendar) return wrong("--calendar", "is another length than --duration: leave one out");
  const Result<double> tokens = a.estimate.count("--tokens", 0, 1, 1e18);
  if (!tokens) return tokens.error();
  q.tokens = *tokens;
  q.useful_s = useful.value_or(0);
  q.calendar_s = calendar.value_or(0);
  if (useful || calendar || q.tokens <= 0 || !a.estimate.given("--model")) return {};
  CostFlags cost;
  cost.set("--mfu", a.mfu);
  const Result<CostWork> work = cost_work(session, a.estimate, cost);
  if (!work) return work.error();
  if (!work->tokens_per_s) return {};
  q.useful_s = q.tokens / work->tokens_per_s->mid;
  return {};
}

Result<int> goodput(Session& session, const GoodputArguments& a) {
  if (const Status s = a.estimate.valid(session); !s) return s.error();
  const Result<const EconomicsData*> data = session.economics();
  if (!data) return data.error();
  const Catalogue& catalogue = **session.catalogue();
  GoodputQuery q;
  q.record = a.record;
  q.practice = a.practice;
  q.tier = a.tier;
  q.device = a.estimate.value("--device");
  q.system = a.estimate.value("--system");
  if (!a.estimate.given("--gpus")) return wrong("--gpus", "say how many, for example --gpus 16384");
  const Result<int> gpus = a.estimate.whole("--gpus", 0, 1, 10'000'000);
  if (!gpus) return gpus.error();
  q.gpus = *gpus;
  if (a.estimate.given("--model")) {
    const Result<Model> model = catalogue.find_model(a.estimate.value("--model"));
    if (!model) return model.error();
    q.parameters = count_parameters(*model).total;
  }
  if (const Status s = fill_sizes(a, q); !s) return s.error();
  if (const Status s = fill_length(session, a, q); !s) return s.error();
  if (!a.price.empty()) {
    CostFlags cost;
    cost.set("--price", a.price);
    CostInputs in;
    if (const Status s = cost.apply(in); !s) return s.error();
    if (const Status s = check(in); !s) return s.error();
    q.usd_per_gpu_hour = in.rent_usd_per_gpu_hour;
  }
  CostFlags numbers;
  numbers.set("--draws", a.trials);
  numbers.set("--seed", a.seed);
  const Result<double> trials = numbers.count("--draws", q.trials, 1, 1e6);
  if (!trials) return wrong("--trials", trials.error().message);
  const Result<double> seed = numbers.count("--seed", 1, 0, 9e15);
  if (!seed) return wrong("--seed", seed.error().message);
  q.trials = static_cast<int>(*trials);
  q.seed = static_cast<std::uint64_t>(*seed);

  Progress progress = session.progress("simulating failures");
  q.patience = session.patience();
  const Result<GoodputAnswer> answer =
      answer_goodput(q, catalogue, **data, [&](double share) { progress.show(share); });
  if (!answer) return answer.error();
  if (const Status s = session.in_time(); !s) return s.error();
  if (const std::string& file = a.estimate.value("--html"); !file.empty()) {
    if (const Status s = session.files().write(file, report::goodput_html(*answer)); !s) return s.error();
  }
  if (session.form() == Form::json) {
    session.print(report::goodput_json(*answer, catalogue).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(without_bars(report::loss_table(*answer))));
  } else {
    session.print(report::goodput_page(*answer));
  }
  return answer->sample.gave_up ? kRefused : kFine;
}

Action declare_goodput(Options& options) {
  auto a = std::make_shared<GoodputArguments>();
  options.text("--record", "R", a->record,
               "failure rates as recorded: llama3-405b, rsc-1, rsc-2, opt-175b, nvl72-assumed",
               value::one_of(offer_failure_records, "failure record"));
  options.list("--rate", "CAUSE=N", a->rates, "interruptions per million GPU-hours of one cause: scale-up=5",
               value::parsed([](std::string_view text) {
                 GoodputQuery unused;
                 return read_rate(text, unused);
               }));
  options.text("--practice", "P", a->practice, "how failures are dealt with: automated, diagnosed, manual",
               value::one_of(offer_practices, "practice"));
  options.text("--detection", "TIME", a->detection, "until a failure is noticed: 60s",
               value::quantity<Seconds>("60s", limits::kNumber, true));
  options.text("--restart", "TIME", a->restart, "until the job is up again: 5min",
               value::quantity<Seconds>("5min", limits::kNumber, true));
  options.text("--repair", "TIME", a->repair, "until a broken unit is a spare again: 24h",
               value::quantity<Seconds>("24h", limits::kNumber, true));
  options.text("--spares", "N", a->spares, "GPUs that stand ready", value::whole(0, 1e7));
  options.text("--unit", "N", a->unit, "GPUs that are replaced together", value::whole(1, 1e7));
  options.text("--domain", "N", a->domain, "GPUs that are down if their links fail", value::whole(1, 1e7));
  options.text("--strategy", "S", a->strategy, "full, sharded, async, in-memory, delta",
               value::parsed(parse_checkpoint_strategy));
  options.text("--tier", "T", a->tier, "where checkpoints go: parallel-fs, tectonic, object-store, node-nvme, ...",
               value::one_of(offer_storage_tiers, "storage tier"));
  options.text("--storage-bandwidth", "B/S", a->storage_bandwidth, "all ranks together: '100 GB/s'",
               value::quantity<BytesPerSecond>("'100 GB/s'"));
  options.text("--checkpoint-size", "BYTES", a->checkpoint_size, "otherwise 14 bytes for each parameter of the model",
               value::quantity<Bytes>("1TB"));
  options.text("--interval", "TIME", a->interval, "between checkpoints; otherwise the best",
               value::quantity<Seconds>("30min"));
  options.text("--stragglers", "SHARE", a->stragglers, "by which the slowest rank slows all down", value::share());
  options.text("--duration", "TIME", a->duration, "of the run if nothing failed: '60 days'",
               value::quantity<Seconds>("'60 days'"));
  options.text("--calendar", "TIME", a->calendar, "that the run may take, failures included",
               value::quantity<Seconds>("'60 days'"));
  options.text("--mfu", "SHARE", a->mfu, "with --model and --tokens: the length from model FLOPs utilisation",
               value::share());
  options.text("--price", "RENT", a->price, "of a GPU-hour, for what failures cost: $2", CostFlags::rent());
  options.text("--engineer-hours", "N", a->engineer_hours, "for each interruption", value::number(0, 1e6));
  options.text("--trials", "N", a->trials, "simulated runs", value::whole(1, 1e6));
  options.text("--seed", "N", a->seed, "of the random numbers", value::whole(0, 9e15));
  a->estimate.declare(options);
  return [a](Session& session) -> Result<int> { return goodput(session, *a); };
}

}  // namespace

Verb goodput_verb() {
  return {
      "goodput", "how much of a long run survives failures",
      "Interruptions by cause, with the GPUs each takes down, spares and repairs; checkpoints with what they stall "
      "and how late they are safe; the best interval; time to train with its p95; lost GPU-hours by kind and by "
      "cause; with --price, what a useful token costs.\n\n"
      "Every run is simulated event by event; the closed form of Young and Daly stands beside it.",
      "ridge goodput --gpus 16384 --model llama3.1-405b --record llama3-405b --tier tectonic --calendar '54 days'\n"
      "ridge goodput --gpus 4608 --model deepseek-v3 --system rack-gb200-nvl72 --duration '30 days' --strategy async "
      "--price '$2.30'",
      declare_goodput};
}

}  // namespace ridge::cli
