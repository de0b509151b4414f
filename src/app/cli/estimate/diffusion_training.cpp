// ridge estimate train of a diffusion model: the step by term, images a second, memory.
#include "ridge/perf/diffusion_training.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/wrong.hpp"
#include "report/estimate/diffusion_training_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

/// What a flag of training means to a diffusion model, or that it means nothing.
Status only_known(const EstimateFlags& flags) {
  constexpr std::string_view kKnown[] = {"--model",        "--device",      "--gpus",       "--tp",
                                         "--global-batch", "--micro-batch", "--resolution", "--frames",
                                         "--precision",    "--recompute",   "--steps",      "--text-encoders"};
  for (const std::string_view flag : flags.given_names()) {
    if (std::find(std::begin(kKnown), std::end(kKnown), flag) != std::end(kKnown)) continue;
    return wrong(flag, fmt::format("is of language models: leave it out to train {}", flags.value("--model")));
  }
  return {};
}

}  // namespace

Result<int> estimate_diffusion_training(Session& session, const EstimateFlags& flags) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  if (const Status s = only_known(flags); !s) return s.error();
  if (!flags.given("--device")) return wrong("--device", "name a device, for example --device h100-sxm");
  if (!flags.given("--gpus")) return wrong("--gpus", "say how many devices, for example --gpus 64");
  DiffusionTrainingQuery q;
  q.model = flags.value("--model");
  q.device = flags.value("--device");
  double steps = 0;
  struct Number {
    const char* flag;
    double most;
    double* into;
  };
  double gpus = 0;
  double tp = 1;
  for (const Number& n : {Number{"--gpus", kMostDevices, &gpus}, Number{"--tp", kMostDevices, &tp},
                          Number{"--global-batch", 1e9, &q.global_batch}, Number{"--micro-batch", 1e6, &q.micro_batch},
                          Number{"--frames", 1e6, &q.frames}, Number{"--steps", 1e12, &steps}}) {
    const Result<double> read = flags.count(n.flag, *n.into, 1, n.most);
    if (!read) return read.error();
    *n.into = *read;
  }
  q.gpus = static_cast<int>(gpus);
  q.tp = static_cast<int>(tp);
  if (flags.given("--resolution")) {
    if (const Status s = read_resolution(flags.value("--resolution"), q.width, q.height); !s) return s.error();
  }
  if (flags.given("--precision")) {
    const Result<Format> format = parse_format(flags.value("--precision"));
    if (!format) return wrong("--precision", format.error().message);
    q.precision = *format;
  }
  q.text_encoders = flags.is_on("--text-encoders");
  q.recompute = flags.given("--recompute") && flags.value("--recompute") != "none";
  Result<DiffusionTrainingAnswer> a = answer(q, *knowledge);
  if (!a) return a.error();
  add_changes(session, a->assumptions);
  const bool refused = a->reason != Reason::none;
  const double images = steps * a->query.global_batch;
  if (session.form() == Form::json) {
    session.print(report::diffusion_training_json(*a, images).text());
    return refused ? kRefused : kFine;
  }
  if (refused) {
    return Error{ErrorCode::infeasible, "",
                 fmt::format("{} on {} × {} cannot be trained: {}", a->query.model, a->query.gpus, a->query.device,
                             report::diffusion_training_refusal(*a))};
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(report::diffusion_training_table(*a)));
    return kFine;
  }
  session.print(report::diffusion_training_page(*a, images));
  return kFine;
}

}  // namespace ridge::cli
