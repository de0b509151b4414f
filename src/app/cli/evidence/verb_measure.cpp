// ridge measure: the GPU in front of you instead of assumptions; predictions beside it; others' measurements.
#include "app/cli/evidence/measure.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "evidence/import/import.hpp"
#include "measure/arguments.hpp"
#include "ridge/base/limits.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

std::vector<std::string> complete_measure_words(Session&, const std::vector<std::string>& before) {
  return before.empty() ? std::vector<std::string>{"model", "import"} : std::vector<std::string>{};
}

Result<int> run(Session& session, const MeasureArguments& arguments) {
  const std::vector<std::string>& words = arguments.words;
  const bool import = !words.empty() && words[0] == "import";
  const bool model = !words.empty() && words[0] == "model";
  if (!words.empty() && !import && !model) {
    return wrong("", quoted(words[0]) + " is nothing to measure; say nothing, `model` or `import FILE`");
  }
  if (words.size() > (import ? 2u : 1u)) return wrong("", "nothing is done with " + quoted(words.back()));
  if (import) return measure_import(session, arguments);
  if (!arguments.compare.empty()) {
    if (!model) return wrong("--compare", "compares steps of a model: ridge measure model --compare FILE");
    return measure_compare(session, arguments);
  }
  return measure_run(session, arguments, model);
}

}  // namespace

static Action declare_measure(Options& options) {
  auto a = std::make_shared<MeasureArguments>();
  options.words("model|import", a->words, "what to measure: nothing for the device itself", complete_measure_words);
  options.flag("--quick", a->quick, "about a minute (the default)");
  options.flag("--full", a->full, "about ten minutes: every shape, longer samples");
  options.exclusive({"--quick", "--full"});
  options.flag("--force", a->force, "measure a GPU that others use, and say so in the profile");
  options.text("--gpu", "N", a->gpu, "which GPU of the machine (default: 0)", value::whole(0, 1024));
  options.text("--out", "FILE", a->out, "where the profile or the imported cases go; standard output otherwise",
               value::written());
  options.text("--only", "PARTS", a->only, "memory, launch, host, layers, gemm, experts, attention, sustained, ...",
               value::parts(value::one_of(measure::parts())));
  options.text("--model", "M", a->model,
               "model: a dense decoder of the catalogue (default: llama3.1-8b); import: what ran", value::model());
  options.text("--precision", "F", a->precision, "model: bf16,fp8 (default: both)", value::parts(value::format()));
  options.text("--phase", "P", a->phase, "model: decode,prefill (default: both)",
               value::parts(value::one_of({"decode", "prefill"})));
  options.text("--batch", "LIST", a->batch, "model: batches (default: 1,4,16,32,64,128,256)",
               value::parts(value::whole(1, 1e8)));
  options.text("--context", "LIST", a->context, "model: contexts (default: 1024,2048,4096,8192)",
               value::parts(value::whole(1, 1e8)));
  options.text("--compare", "FILE", a->compare, "model: predictions beside the steps in FILE; needs no GPU",
               value::file());
  options.text("--device", "D", a->device, "compare: predict for this profile or device; import: what it ran on",
               value::device());
  options.text("--kind", "K", a->kind, "import: nccl-tests, vllm, nvidia-smi or inferencex (default: told by the file)",
               value::parsed(evidence::parse_import_kind));
  options.text("--engine", "E", a->engine, "import: the engine, where the file does not name it", value::engine());
  options.text("--engine-version", "V", a->engine_version, "import: its version", value::name("._-+() "));
  options.text("--isl", "N", a->isl, "import: input tokens per request, where the file does not say",
               value::number(1, limits::kRequestTokens.most));
  options.text("--osl", "N", a->osl, "import: output tokens per request",
               value::number(1, limits::kRequestTokens.most));
  options.text("--work", "W", a->work, "import of a power log: idle, copy, gemm8192, prefill or decode (default: idle)",
               value::one_of({"idle", "copy", "gemm8192", "prefill", "decode"}));
  options.text("--tp", "N", a->tp, "import: tensor parallelism, where the file does not name it", value::whole(1, 1e6));
  options.text("--source", "ID", a->source, "import: what the rows name as their source", value::name());
  return [a](Session& session) { return run(session, *a); };
}

Verb measure_verb() {
  return {"measure", "measure the GPU in front of you; compare predictions with it",
          "Starts ridge-measure, which times copies, products, attention, experts, launches and collectives on the GPU "
          "and writes a profile. Later commands take it by --device profile.toml: the device is then as measured, and "
          "no other moves. `ridge calibrate --profile` shows what it changes.\n\n"
          "`model` runs prefill and decode of a dense catalogue model with random weights, each operator timed by "
          "itself; with --compare it puts predictions beside such a file instead.\n\n"
          "`import` turns the output of nccl-tests, vLLM's benchmark, nvidia-smi's power log or InferenceX into rows "
          "of evidence for `ridge validate --cases`.\n\n"
          "Without a GPU, or without ridge-measure, it says so and ends with 1.",
          "ridge measure model --compare data/profiles/h200-sxm-llama3.1-8b.toml --device data/profiles/h200-sxm.toml",
          declare_measure};
}

}  // namespace ridge::cli
