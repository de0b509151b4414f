#include "evidence/measured/steps.hpp"

#include <algorithm>

#include "perf/inference/step.hpp"

namespace ridge::evidence {
namespace {

struct Operators {
  std::vector<measure::ModelStep::Operator>& out;

  void operation(std::string_view what, Term /*term*/, const perf::OpTime& op, double /*flops*/, double /*bytes*/,
                 double times, bool /*narrow*/ = false) {
    add(what, op.seconds * times);
  }
  void filler(double /*flops*/, double /*times*/) {}
  void network(std::string_view what, Term /*term*/, double seconds, double /*bytes*/, double times) {
    add(what, seconds * times);
  }
  void exchange(std::string_view what, Term term, double seconds, double bytes, double times) {
    network(what, term, seconds, bytes, times);
  }
  void add(std::string_view what, double seconds) {
    const auto at = std::find_if(out.begin(), out.end(), [&](const auto& o) { return o.what == what; });
    if (at != out.end()) {
      at->seconds += seconds;
    } else {
      out.push_back({std::string(what), seconds});
    }
  }
};

}  // namespace

const std::string& model_of(const measure::ModelStep& step, const measure::Profile& profile) {
  return step.model.empty() ? profile.model : step.model;
}

Result<StepPrediction> predict_step(const measure::ModelStep& step, const std::string& model, const std::string& device,
                                    const Knowledge& knowledge) {
  const Result<Format> format = parse_format(step.precision);
  if (!format) return format.error();
  InferenceQuery q;
  q.model = model;
  q.device = device;
  q.engine = "native";
  q.weights = *format;
  q.kv = Format::bf16;  // ridge-measure keeps its cache in 16 bits
  const Result<InferenceDeployment> deployment = resolve(q, knowledge);
  if (!deployment) return deployment.error();
  perf::Step s;
  const double passes = step.passes;
  if (step.phase == "prefill") {
    s.prompts = step.batch / passes;
    s.prefill_length = s.prefill_context = step.context;
    s.prefill = s.prompts * step.context;
  } else {
    s.decode = step.batch;
    s.context = step.context;
  }
  const ResolvedInference& resolved = *deployment->resolved;
  StepPrediction out;
  out.seconds = passes * perf::step_time(resolved, s).seconds;
  Operators operators{out.operators};
  perf::visit_step(resolved, s, operators);
  // The small kernels of a layer are a cost of the engine; what was timed as norms and activations holds them.
  operators.add("norms and activations", resolved.small_layers * resolved.costs.layer_small);
  for (measure::ModelStep::Operator& o : out.operators) o.seconds *= passes;
  return out;
}

}  // namespace ridge::evidence
