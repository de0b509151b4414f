// From flags to a question about inference.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate/flags.hpp"
#include "app/cli/session/wrong.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/usual.hpp"

namespace ridge::cli {

namespace {

class Questioner {
 public:
  Questioner(const EstimateFlags& flags, const std::string& as_of) : flags_(flags) { q_.date = as_of; }

  Result<InferenceQuestion> run() {
    q_.load.mode = LoadMode::closed_loop;
    q_.load.isl = usual::kInputTokens;
    q_.load.osl = usual::kOutputTokens;
    if (const Status s = names(); !s) return s.error();
    if (const Status s = one_load(); !s) return s.error();
    if (const Status s = flags_.read(q_); !s) return s.error();
    for (const auto step : {&Questioner::layout, &Questioner::load, &Questioner::extras}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return InferenceQuestion{std::move(q_), std::move(assumptions_)};
  }

 private:
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    assumptions_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  Status names() {
    if (!flags_.given("--model")) {
      return wrong("--model", "name a model, for example --model llama3.3-70b; `ridge show models` lists them");
    }
    if (!flags_.given("--device") && !flags_.given("--system")) {
      return wrong("--device", "name a device, for example --device h200-sxm; `ridge show devices` lists them");
    }
    if (!flags_.given("--engine")) assume("engine {}", q_.engine);
    return {};
  }

  Status layout() {
    const double product = 1.0 * std::max(q_.tp, 1) * q_.pp * q_.dp;
    if (product > kMostDevices) return too_many_devices("--tp", product);
    if (q_.gpus > kMostDevices) return too_many_devices("--gpus", q_.gpus);
    if (q_.kv && *q_.kv != Format::bf16 && *q_.kv != Format::fp16 && *q_.kv != Format::fp8 && *q_.kv != Format::int8) {
      return wrong("--kv-precision",
                   fmt::format("a KV cache is kept in bf16, fp16, fp8 or int8, not in {}", name(*q_.kv)));
    }
    return {};
  }

  /// Of the ways to say a load, one.
  Status one_load() {
    const bool batch = flags_.given("--batch");
    const bool clients = flags_.given("--concurrency");
    const bool offline = flags_.is_on("--offline");
    const bool prefill = flags_.is_on("--prefill");
    if (clients && (batch || offline)) {
      return wrong("--concurrency",
                   fmt::format("says another load than {}: leave one out", batch ? "--batch" : "--offline"));
    }
    if (offline && batch)
      return wrong("--offline", "lets the engine choose the batch: leave out --batch, or --offline");
    if (prefill && (clients || offline)) {
      return wrong("--prefill", fmt::format("decodes nothing: leave out {}; --batch says how many prompts run together",
                                            clients ? "--concurrency" : "--offline"));
    }
    if (prefill && flags_.given("--osl")) return wrong("--osl", "nothing is decoded with --prefill: leave one out");
    return {};
  }

  Status load() {
    InferenceLoad& load = q_.load;
    if (!flags_.given("--isl")) assume("{:.0f} tokens in", load.isl);
    if (!flags_.given("--osl") && load.mode != LoadMode::prefill) assume("{:.0f} tokens out", load.osl);
    if (load.mode == LoadMode::closed_loop && !flags_.given("--concurrency")) {
      load.concurrency = usual::kClients;
      assume("{:.0f} clients", load.concurrency);
    }
    return {};
  }

  Status extras() {
    InferenceLoad& load = q_.load;
    if (load.prefix_hit >= 1) return wrong("--prefix-hit", "some of every prompt is new: write a share below 1");
    if (flags_.given("--acceptance") && load.draft_tokens <= 0) {
      return wrong("--acceptance",
                   "says how many proposed tokens are accepted: say by --draft-tokens how many are proposed");
    }
    if (load.draft_tokens > 0 && !flags_.given("--acceptance")) {
      load.acceptance = usual::kAcceptance;
      assume("{:.0f} % of the proposed tokens are accepted", 100 * load.acceptance);
    }
    if (flags_.given("--gpu-memory-utilization") && q_.memory_utilization <= 0) {
      return wrong("--gpu-memory-utilization", "write a share above 0, for example 0.9");
    }
    return {};
  }

  const EstimateFlags& flags_;
  InferenceQuery q_;
  std::vector<std::string> assumptions_;
};

}  // namespace

Result<InferenceQuestion> inference_question(const EstimateFlags& flags, const std::string& as_of) {
  return Questioner(flags, as_of).run();
}

}  // namespace ridge::cli
