// From flags to a question about inference.
#include <fmt/format.h>

#include <algorithm>

#include "app/cli/estimate_flags.hpp"
#include "ridge/text.hpp"

namespace ridge::cli {

namespace {

constexpr double kUsualClients = 32;
constexpr double kUsualAcceptance = 0.7;
constexpr double kMostTokens = 1e8;
constexpr double kMostSequences = 1e7;

Error wrong(std::string_view flag, std::string message) {
  return {ErrorCode::bad_input, std::string(flag), std::move(message)};
}

/// Formats that are stored narrow and always widened for the product: "w4a16".
bool for_weights_alone(Format f) {
  return f == Format::int4 || f == Format::mxfp4 || is_gguf(f);
}

class Questioner {
 public:
  Questioner(const EstimateFlags& flags, const std::string& as_of) : flags_(flags) { q_.date = as_of; }

  Result<InferenceQuestion> run() {
    for (const auto step :
         {&Questioner::names, &Questioner::layout, &Questioner::formats, &Questioner::load, &Questioner::extras}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return InferenceQuestion{std::move(q_), std::move(assumptions_)};
  }

 private:
  template <class... Args>
  void assume(fmt::format_string<Args...> text, Args&&... args) {
    assumptions_.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  template <class T>
  static Status take(const Result<T>& from, T& into) {
    if (!from) return from.error();
    into = *from;
    return {};
  }

  Status names() {
    if (!flags_.given("--model")) {
      return wrong("--model", "name a model, for example --model llama3.3-70b; `ridge show models` lists them");
    }
    q_.model = flags_.value("--model");
    q_.device = flags_.value("--device");
    q_.system = flags_.value("--system");
    if (q_.device.empty() && q_.system.empty()) {
      return wrong("--device", "name a device, for example --device h200-sxm; `ridge show devices` lists them");
    }
    if (flags_.given("--engine")) {
      q_.engine = flags_.value("--engine");
    } else {
      assume("engine {}", q_.engine);
    }
    q_.engine_version = flags_.value("--engine-version");
    return {};
  }

  Status layout() {
    if (const Status s = take(flags_.whole("--gpus", 0, 1, kMostDevices), q_.gpus); !s) return s;
    if (const Status s = take(flags_.whole("--tp", 0, 1, kMostDevices), q_.tp); !s) return s;
    if (const Status s = take(flags_.whole("--pp", 1, 1, kMostDevices), q_.pp); !s) return s;
    if (const Status s = take(flags_.whole("--ep", 1, 1, kMostDevices), q_.ep); !s) return s;
    if (const Status s = take(flags_.whole("--dp", 1, 1, kMostDevices), q_.dp); !s) return s;
    if (const Status s = experts(); !s) return s;
    const double product = 1.0 * std::max(q_.tp, 1) * q_.pp * q_.dp;
    return product > kMostDevices ? Status(too_many_devices("--tp", product)) : Status();
  }

  Status experts() {
    if (flags_.given("--dispatch")) {
      const auto exchange = parse_expert_exchange(flags_.value("--dispatch"));
      if (!exchange) return wrong("--dispatch", exchange.error().message);
      q_.experts.exchange = *exchange;
    }
    if (flags_.given("--redundant-experts")) {
      if (const Status s = take(flags_.whole("--redundant-experts", 0, 0, 4096), q_.experts.redundant); !s) return s;
    }
    if (const Status s = switched("--two-batch-overlap", q_.experts.two_batches); !s) return s;
    return switched("--eplb", q_.experts.rebalanced);
  }

  Status switched(std::string_view flag, std::optional<bool>& into) const {
    if (!flags_.given(flag)) return {};
    const std::string& word = flags_.value(flag);
    if (word != "on" && word != "off") return wrong(flag, "write on or off, not '" + word + "'");
    into = word == "on";
    return {};
  }

  Status format_of(std::string_view flag, std::optional<Format>& into) const {
    if (!flags_.given(flag)) return {};
    const Result<Format> format = parse_format(flags_.value(flag));
    if (!format) return wrong(flag, format.error().message);
    into = *format;
    return {};
  }

  Status formats() {
    std::optional<Format> both;
    if (const Status s = format_of("--precision", both); !s) return s;
    q_.weights = both;
    if (both && !for_weights_alone(*both)) q_.activations = both;
    if (const Status s = format_of("--weight-precision", q_.weights); !s) return s;
    if (const Status s = format_of("--activation-precision", q_.activations); !s) return s;
    if (const Status s = format_of("--kv-precision", q_.kv); !s) return s;
    if (q_.kv && *q_.kv != Format::bf16 && *q_.kv != Format::fp16 && *q_.kv != Format::fp8 && *q_.kv != Format::int8) {
      return wrong("--kv-precision",
                   fmt::format("a KV cache is kept in bf16, fp16, fp8 or int8, not in {}", name(*q_.kv)));
    }
    return {};
  }

  Status load() {
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

    InferenceLoad& load = q_.load;
    load.mode = prefill   ? LoadMode::prefill
                : offline ? LoadMode::offline
                : batch   ? LoadMode::fixed_batch
                          : LoadMode::closed_loop;
    if (const Status s = take(flags_.count("--isl", kUsualIsl, 0, kMostTokens), load.isl); !s) return s;
    if (const Status s = take(flags_.count("--osl", kUsualOsl, 1, kMostTokens), load.osl); !s) return s;
    if (const Status s = take(flags_.count("--batch", 1, 1, kMostSequences), load.batch); !s) return s;
    if (const Status s = take(flags_.count("--concurrency", 0, 1, kMostSequences), load.concurrency); !s) return s;
    if (prefill) load.osl = 1;
    if (!flags_.given("--isl")) assume("{:.0f} tokens in", load.isl);
    if (!flags_.given("--osl") && !prefill) assume("{:.0f} tokens out", load.osl);
    if (load.mode == LoadMode::closed_loop && !clients) {
      load.concurrency = kUsualClients;
      assume("{:.0f} clients", load.concurrency);
    }
    return {};
  }

  Status extras() {
    InferenceLoad& load = q_.load;
    if (const Status s = take(flags_.share("--prefix-hit", 0), load.prefix_hit); !s) return s;
    if (load.prefix_hit >= 1) return wrong("--prefix-hit", "some of every prompt is new: write a share below 1");
    if (const Status s = take(flags_.count("--draft-tokens", 0, 0, 64), load.draft_tokens); !s) return s;
    if (const Status s = take(flags_.share("--acceptance", 0), load.acceptance); !s) return s;
    if (flags_.given("--acceptance") && load.draft_tokens <= 0) {
      return wrong("--acceptance",
                   "says how many proposed tokens are accepted: say by --draft-tokens how many are proposed");
    }
    if (load.draft_tokens > 0 && !flags_.given("--acceptance")) {
      load.acceptance = kUsualAcceptance;
      assume("{:.0f} % of the proposed tokens are accepted", 100 * load.acceptance);
    }
    if (const Status s = take(flags_.count("--lora-rank", 0, 1, 4096), q_.lora_rank); !s) return s;
    if (const Status s = take(flags_.count("--max-batched-tokens", 0, 1, 1e7), q_.max_batched_tokens); !s) return s;
    if (const Status s = take(flags_.count("--max-num-seqs", 0, 1, 1e6), q_.max_sequences); !s) return s;
    if (const Status s = take(flags_.share("--gpu-memory-utilization", 0), q_.memory_utilization); !s) return s;
    if (flags_.given("--gpu-memory-utilization") && q_.memory_utilization <= 0) {
      return wrong("--gpu-memory-utilization", "write a share above 0, for example 0.9");
    }
    double offload = 0;
    if (const Status s = take(flags_.count("--cpu-offload-gb", 0, 0, 1e5), offload); !s) return s;
    q_.cpu_offload = offload * 1024 * 1024 * 1024;
    if (!flags_.given("--power-cap")) return {};
    const Result<Watts> cap = parse_quantity<Watts>(flags_.value("--power-cap"));
    if (!cap) return wrong("--power-cap", cap.error().message);
    if (*cap <= Watts(0)) return wrong("--power-cap", "write a power above 0, for example 500W");
    q_.power_cap = cap->value();
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
