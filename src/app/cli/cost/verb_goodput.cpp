// ridge goodput: how much of a long run survives failures, and what that costs.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/cost/cost.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/progress.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "economics/goodput/case.hpp"
#include "report/cost/goodput_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

struct GoodputArguments {
  EstimateFlags estimate;
  Flags own{ask::goodput_fields()};
  std::vector<std::string> rates;
};

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

/// The length of the run: said, or tokens at the speed of an estimate or an MFU.
Status fill_length(Session& session, const GoodputArguments& a, GoodputQuery& q) {
  const bool said = a.own.given("--duration");
  const bool limited = a.own.given("--calendar");
  if (said && limited) return wrong("--calendar", "is another length than --duration: leave one out");
  if (const Status s = cli::take(a.estimate.count("--tokens", 0, 1, 1e18), q.tokens); !s) return s;
  if (said || limited || q.tokens <= 0 || !a.estimate.given("--model")) return {};
  CostFlags cost;
  cost.set("--mfu", a.own.value("--mfu"));
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
  if (const Status s = a.own.read_into(q); !s) return s.error();
  for (const std::string& rate : a.rates) {
    if (const Status s = read_rate(rate, q); !s) return s.error();
  }
  if (const Status s = fill_length(session, a, q); !s) return s.error();
  if (a.own.given("--price")) {
    CostInputs in;
    in.rent_usd_per_gpu_hour = q.usd_per_gpu_hour;
    if (const Status s = check(in); !s) return s.error();
  }

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
  a->own.declare_only(options, {"--record"});
  options.list("--rate", "CAUSE=N", a->rates, "interruptions per million GPU-hours of one cause: scale-up=5",
               value::parsed([](std::string_view text) {
                 GoodputQuery unused;
                 return read_rate(text, unused);
               }));
  a->own.declare_beside(options, ask::kGoodput, {"--record"});
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
