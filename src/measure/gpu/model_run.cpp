#include "measure/gpu/model_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>

#include "measure/gpu/attention.hpp"
#include "measure/gpu/bytes.hpp"
#include "measure/gpu/layer_kernels.hpp"
#include "ridge/base/random.hpp"

namespace ridge::measure {
namespace {

constexpr double kStepSeconds = 0.25;      // that a step of decode is repeated for
constexpr double kPromptSeconds = 0.5;     // and one of prefill, which draws all the power there is
constexpr double kPowerSeconds = 1;        // over which the energy is counted: the counter moves ten times a second
constexpr double kBurstSeconds = 0.02;     // of steps between two looks at it
constexpr double kPromptSettles = 0.3;     // before that, until the power limit has found its clock
constexpr double kOperatorSeconds = 0.04;  // and an operator of it

/// Inside a step attention and norms let the board breathe: short turns decide.
Tuning tuning_inside(const GemmShape& shape) {
  Tuning tuning = tuning_for(shape, false);
  tuning.candidates = 6;
  tuning.finalists = 0;
  return tuning;
}

struct Load {
  bool prefill = false;
  int batch = 1, context = 1;
  int passes = 1;  ///< one after the other, each of as many whole sequences: as many as activations have room for
  [[nodiscard]] int sequences() const { return batch / passes; }  ///< of a pass
  [[nodiscard]] int tokens() const { return prefill ? sequences() * context : sequences(); }
};

/// Weights of all layers in one format, and what a step writes.
class Decoder {
 public:
  Decoder(Bench& bench, const ModelShape& shape, GemmFormat format)
      : bench_(bench),
        shape_(shape),
        format_(format),
        blas_(bench.stream),
        heads_{shape.heads, shape.kv_heads, kHeadDim} {
    const std::size_t each = bytes_of(format);
    const std::size_t hidden = shape.hidden;
    sizes_ = {heads_.qkv_width() * hidden, hidden * shape.heads * kHeadDim,
              (shape.gated ? 2ull : 1ull) * shape.ffn * hidden, hidden * shape.ffn};
    std::size_t layer = 0;
    for (const std::size_t size : sizes_) layer += size;
    weights_ = GpuBuffer<std::uint8_t>(layer * shape.layers * each);
    if (format == GemmFormat::fp8) {
      fill_random_fp8(weights_.data(), weights_.count(), 0.1F, 21, bench.stream);
    } else {
      fill_random_bf16(reinterpret_cast<std::uint16_t*>(weights_.data()), layer * shape.layers, 0.02F, 21,
                       bench.stream);
    }
    layer_bytes_ = layer * each;
    const std::size_t table = static_cast<std::size_t>(shape.vocabulary) * hidden;
    head_ = GpuBuffer<std::uint16_t>(table);
    embedding_ = GpuBuffer<std::uint16_t>(table);
    norm_ = GpuBuffer<std::uint16_t>(hidden);
    fill_random_bf16(head_.data(), table, 0.02F, 22, bench.stream);
    fill_random_bf16(embedding_.data(), table, 1, 23, bench.stream);
    fill_random_bf16(norm_.data(), hidden, 1, 24, bench.stream);
  }

  /// Times the step; its operators too if they are wanted.
  [[nodiscard]] ModelStep measure(const Load& load, bool with_operators);
  [[nodiscard]] double drawn(const std::function<void()>& work) const;

  /// Memory for the largest of the loads; what an earlier call took is given back first.
  void reserve(const std::vector<Load>& loads);
  /// Why keys and values of a load do not fit; empty if they do.
  [[nodiscard]] std::string refusal(const Load& load) const;

 private:
  enum Projection : std::uint8_t { kQkv, kOutput, kUp, kDown };

  [[nodiscard]] std::size_t cache_elements(const Load& load) const {
    return static_cast<std::size_t>(load.batch) * heads_.kv * load.context * kHeadDim;
  }
  /// Where keys (or values) of a layer begin, for the sequences of a pass.
  [[nodiscard]] std::uint16_t* cache(const GpuBuffer<std::uint16_t>& of, const Load& load, int layer, int pass) const {
    const std::size_t all = cache_elements(load);
    return of.data() + static_cast<std::size_t>(layer) * all + static_cast<std::size_t>(pass) * (all / load.passes);
  }
  [[nodiscard]] const void* weight(int layer, Projection which) const {
    std::size_t offset = 0;
    for (int i = 0; i < which; ++i) offset += sizes_[static_cast<std::size_t>(i)];
    return weights_.data() + static_cast<std::size_t>(layer) * layer_bytes_ + offset * bytes_of(format_);
  }
  [[nodiscard]] Narrow narrow() const { return format_ == GemmFormat::fp8 ? Narrow::yes : Narrow::no; }

  /// The plan of a projection for that many tokens, tuned on first use over the weights of all layers.
  const GemmPlan& plan(int tokens, Projection which);
  const GemmPlan& head_plan(int rows);
  [[nodiscard]] GemmOperands operands(int layer, Projection which) const;

  void attention(const Load& load, int layer, int pass);
  void store(const Load& load, int layer, int pass);
  void layer(const Load& load, int layer, int pass);
  void run_pass(const Load& load, int pass);
  void prepare(const Load& load);
  std::vector<ModelStep::Operator> operators(const Load& load);

  Bench& bench_;
  ModelShape shape_;
  GemmFormat format_;
  Blas blas_;
  Heads heads_;
  std::array<std::size_t, 4> sizes_{};
  std::size_t layer_bytes_ = 0;
  GpuBuffer<std::uint8_t> weights_;
  GpuBuffer<std::uint16_t> head_, embedding_, norm_;
  GpuBuffer<std::uint16_t> keys_, values_;
  GpuBuffer<std::uint16_t> residual_, delta_, qkv_, wide_, narrow_in_, mixed_, logits_, last_;
  GpuBuffer<int> tokens_;
  GpuBuffer<float2> rotations_;
  GpuBuffer<float> scratch_;
  DecodePlan decode_;
  std::map<std::pair<int, int>, GemmPlan> plans_;
};

void Decoder::reserve(const std::vector<Load>& loads) {
  for (GpuBuffer<std::uint16_t>* buffer :
       {&keys_, &values_, &residual_, &delta_, &qkv_, &wide_, &narrow_in_, &mixed_, &logits_, &last_}) {
    *buffer = {};
  }
  std::size_t tokens = 1, most_sequences = 1;
  int longest = 1;
  for (const Load& load : loads) {
    tokens = std::max(tokens, static_cast<std::size_t>(load.tokens()));
    most_sequences = std::max(most_sequences, static_cast<std::size_t>(load.sequences()));
    longest = std::max(longest, load.context);
  }
  const std::size_t ffn = static_cast<std::size_t>(shape_.ffn);
  residual_ = GpuBuffer<std::uint16_t>(tokens * shape_.hidden);
  delta_ = GpuBuffer<std::uint16_t>(tokens * shape_.hidden);
  narrow_in_ = GpuBuffer<std::uint16_t>(tokens * std::max<std::size_t>(shape_.hidden, ffn));
  qkv_ = GpuBuffer<std::uint16_t>(tokens * heads_.qkv_width());
  wide_ = GpuBuffer<std::uint16_t>(tokens * ffn * (shape_.gated ? 2 : 1));
  mixed_ = GpuBuffer<std::uint16_t>(tokens * shape_.heads * kHeadDim);
  last_ = GpuBuffer<std::uint16_t>(most_sequences * shape_.hidden);
  logits_ = GpuBuffer<std::uint16_t>(most_sequences * shape_.vocabulary);
  tokens_ = GpuBuffer<int>(tokens);
  rotations_ = GpuBuffer<float2>(static_cast<std::size_t>(longest) * kHeadDim / 2);
  scratch_ = GpuBuffer<float>(64u << 20);
  make_rotations(rotations_.data(), longest, kHeadDim, 500000, bench_.stream);
  // A prompt of one token again and again would make all rows of the activations alike, and those draw less power.
  std::vector<int> prompt(tokens);
  Random draws(25);
  for (int& token : prompt) token = static_cast<int>(draws.below(static_cast<std::uint64_t>(shape_.vocabulary)));
  check(gpuMemcpyAsync(tokens_.data(), prompt.data(), tokens_.bytes(), gpuMemcpyHostToDevice, bench_.stream),
        "copying a prompt");
  fill_random_bf16(qkv_.data(), qkv_.count(), 1, 26, bench_.stream);
  fill_random_bf16(wide_.data(), wide_.count(), 1, 27, bench_.stream);
  fill_random_bf16(delta_.data(), delta_.count(), 1, 28, bench_.stream);
  fill_random_bf16(residual_.data(), residual_.count(), 1, 29, bench_.stream);
  if (format_ == GemmFormat::fp8) {
    fill_random_fp8(reinterpret_cast<std::uint8_t*>(narrow_in_.data()), narrow_in_.bytes(), 1, 30, bench_.stream);
    fill_random_fp8(reinterpret_cast<std::uint8_t*>(mixed_.data()), mixed_.bytes(), 1, 31, bench_.stream);
  } else {
    fill_random_bf16(narrow_in_.data(), narrow_in_.count(), 1, 30, bench_.stream);
    fill_random_bf16(mixed_.data(), mixed_.count(), 1, 31, bench_.stream);
  }
  check(gpuStreamSynchronize(bench_.stream), "filling buffers");
  // The rest of the memory, less a margin, holds keys and values.
  std::size_t free = 0, total = 0;
  check(gpuMemGetInfo(&free, &total), "reading free memory");
  const std::size_t margin = 1u << 30;  // for graphs and for kernels that the libraries load later
  if (free < 2 * margin) throw GpuFailure{"the weights leave no room for a cache", true};
  const std::size_t elements = (free - margin) / 4 / 1024 * 1024;
  keys_ = GpuBuffer<std::uint16_t>(elements);
  values_ = GpuBuffer<std::uint16_t>(elements);
  fill_random_bf16(keys_.data(), elements, 1, 32, bench_.stream);
  fill_random_bf16(values_.data(), elements, 1, 33, bench_.stream);
  check(gpuStreamSynchronize(bench_.stream), "filling the cache");
}

GemmOperands Decoder::operands(int layer, Projection which) const {
  const void* in = which == kOutput ? static_cast<const void*>(mixed_.data()) : narrow_in_.data();
  void* out = which == kQkv ? qkv_.data() : which == kUp ? wide_.data() : delta_.data();
  return {in, weight(layer, which), out};
}

const GemmPlan& Decoder::plan(int tokens, Projection which) {
  const auto key = std::pair(tokens, static_cast<int>(which));
  if (const auto at = plans_.find(key); at != plans_.end()) return at->second;
  const std::array<int, 4> n = {heads_.qkv_width(), shape_.hidden, (shape_.gated ? 2 : 1) * shape_.ffn, shape_.hidden};
  const std::array<int, 4> k = {shape_.hidden, shape_.heads * kHeadDim, shape_.hidden, shape_.ffn};
  std::vector<GemmOperands> sets;
  for (int layer = 0; layer < shape_.layers; ++layer) sets.push_back(operands(layer, which));
  const GemmShape shape{tokens, n[which], k[which], format_};
  return plans_.emplace(key, blas_.tune(shape, sets, tuning_inside(shape))).first->second;
}

const GemmPlan& Decoder::head_plan(int rows) {
  const auto key = std::pair(rows, -1);
  if (const auto at = plans_.find(key); at != plans_.end()) return at->second;
  const std::vector<GemmOperands> sets = {{last_.data(), head_.data(), logits_.data()}};
  const GemmShape shape{rows, shape_.vocabulary, shape_.hidden, GemmFormat::bf16};
  return plans_.emplace(key, blas_.tune(shape, sets, tuning_inside(shape))).first->second;
}

std::string Decoder::refusal(const Load& load) const {
  const std::size_t needed = cache_elements(load) * shape_.layers;
  if (needed <= keys_.count()) return {};
  const auto gigabytes = [](std::size_t elements) {
    return std::to_string(elements * 2 * sizeof(std::uint16_t) / 1000000000) + " GB";
  };
  return "keys and values take " + gigabytes(needed) + ", and " + gigabytes(keys_.count()) +
         " are free beside weights and activations";
}

void Decoder::attention(const Load& load, int layer, int pass) {
  AttentionCall c;
  c.queries = qkv_.data();
  c.query_stride = heads_.qkv_width();
  c.keys = cache(keys_, load, layer, pass);
  c.values = cache(values_, load, layer, pass);
  c.out = mixed_.data();
  c.narrow = narrow();
  c.q_heads = heads_.query;
  c.kv_heads = heads_.kv;
  c.batch = load.sequences();
  c.q_len = load.prefill ? load.context : 1;
  c.kv_len = c.capacity = load.context;
  if (load.prefill) {
    prefill_attention(c, bench_.stream);
  } else {
    decode_attention(c, decode_, scratch_.data(), bench_.stream);
  }
}

void Decoder::store(const Load& load, int layer, int pass) {
  rotate_and_store(qkv_.data(), cache(keys_, load, layer, pass), cache(values_, load, layer, pass), rotations_.data(),
                   heads_, load.tokens(), load.prefill ? load.context : 1, load.prefill ? 0 : load.context - 1,
                   load.context, bench_.stream);
}

void Decoder::layer(const Load& load, int at, int pass) {
  const int tokens = load.tokens();
  const gpuStream_t stream = bench_.stream;
  add_norm(residual_.data(), at == 0 ? nullptr : delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens,
           shape_.hidden, stream);
  blas_.run(plan(tokens, kQkv), operands(at, kQkv));
  store(load, at, pass);
  attention(load, at, pass);
  blas_.run(plan(tokens, kOutput), operands(at, kOutput));
  add_norm(residual_.data(), delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens, shape_.hidden, stream);
  blas_.run(plan(tokens, kUp), operands(at, kUp));
  activate(wide_.data(), narrow_in_.data(), narrow(), shape_.gated, tokens, shape_.ffn, stream);
  blas_.run(plan(tokens, kDown), operands(at, kDown));
}

void Decoder::run_pass(const Load& load, int pass) {
  const gpuStream_t stream = bench_.stream;
  embed(embedding_.data(), tokens_.data(), residual_.data(), load.tokens(), shape_.hidden, stream);
  for (int at = 0; at < shape_.layers; ++at) layer(load, at, pass);
  // The last norm works on the last tokens alone; `delta_` of the last layer is added to the residual there.
  add_norm(residual_.data(), delta_.data(), norm_.data(), wide_.data(), Narrow::no, load.tokens(), shape_.hidden,
           stream);
  take_last(wide_.data(), last_.data(), load.sequences(), load.prefill ? load.context : 1, shape_.hidden, stream);
  blas_.run(head_plan(load.sequences()), {last_.data(), head_.data(), logits_.data()});
  choose_token(logits_.data(), tokens_.data(), load.sequences(), shape_.vocabulary, stream);
}

void Decoder::prepare(const Load& load) {
  AttentionCall c;
  c.batch = load.sequences();
  c.q_heads = heads_.query;
  c.kv_heads = heads_.kv;
  c.kv_len = load.context;
  decode_ = plan_decode(c, bench_.multiprocessors);
  if (decode_.scratch_floats > scratch_.count()) throw GpuFailure{"scratch is too small for this batch", true};
  for (const Projection which : {kQkv, kOutput, kUp, kDown}) (void)plan(load.tokens(), which);
  (void)head_plan(load.sequences());
}

std::vector<ModelStep::Operator> Decoder::operators(const Load& load) {
  const gpuStream_t stream = bench_.stream;
  const int tokens = load.tokens();
  const int layers = shape_.layers;
  std::vector<ModelStep::Operator> out;
  const auto time = [&](const char* what, int times, const Launch& launch) {
    TimingOptions o;
    o.budget = kOperatorSeconds;
    o.rotation = load.prefill ? std::min(times, 4) : times;  // the operands of a prompt pass the cache by themselves
    o.least = 3;
    out.push_back({what, times * time_operation(stream, launch, o).seconds});
  };
  const auto product = [&](const char* what, Projection which) {
    time(what, layers, [&, which](int i) { blas_.run(plan(tokens, which), operands(i % layers, which)); });
  };
  product("QKV projection", kQkv);
  product("output projection", kOutput);
  product("gate and up", kUp);
  product("down", kDown);
  time(load.prefill ? "attention, prefill" : "attention, decode", layers,
       [&](int i) { attention(load, i % layers, 0); });
  time("norms and activations", layers, [&](int i) {
    add_norm(residual_.data(), delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens, shape_.hidden, stream);
    store(load, i % layers, 0);
    add_norm(residual_.data(), delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens, shape_.hidden, stream);
    activate(wide_.data(), narrow_in_.data(), narrow(), shape_.gated, tokens, shape_.ffn, stream);
  });
  time("LM head", 1, [&](int) {
    blas_.run(head_plan(load.sequences()), {last_.data(), head_.data(), logits_.data()});
  });
  return out;
}

/// Mean power while `work` is done over and over, from one move of the energy counter to another; 0: there is none.
double Decoder::drawn(const std::function<void()>& work) const {
  using Clock = std::chrono::steady_clock;
  const double first = bench_.monitor.read().joules;
  if (first <= 0) return 0;
  const auto since = [](Clock::time_point t) { return std::chrono::duration<double>(Clock::now() - t).count(); };
  const auto moved = [&](double from, double at_least) {
    const auto start = Clock::now();
    double joules = from;
    while (joules == from || since(start) < at_least) {
      work();
      joules = bench_.monitor.read().joules;
      if (since(start) > at_least + kPowerSeconds) break;  // a counter that stands still
    }
    return joules;
  };
  const double before = moved(first, 0);
  const auto start = Clock::now();
  // To a look before the last move, so that the end is a move as well.
  const double late = moved(before, kPowerSeconds);
  const double after = moved(late, 0);
  return (after - before) / since(start);
}

ModelStep Decoder::measure(const Load& load, bool with_operators) {
  prepare(load);
  ModelStep result;
  result.phase = load.prefill ? "prefill" : "decode";
  result.precision = name(format_);
  result.batch = load.batch;
  result.context = load.context;
  result.passes = load.passes;
  run_pass(load, 0);
  check(gpuStreamSynchronize(bench_.stream), "running a step");
  std::deque<Graph> graphs;
  for (int pass = 0; pass < load.passes; ++pass) {
    graphs.emplace_back(bench_.stream, [&] { run_pass(load, pass); });
  }
  const double once = [&] {
    const Events events(2);
    graphs.front().replay(bench_.stream);
    events.record(0, bench_.stream);
    graphs.front().replay(bench_.stream);
    events.record(1, bench_.stream);
    return events.between(0, 1);
  }();
  // Several passes are alike and last for seconds: one step of them is enough.
  const double wanted = (load.prefill ? kPromptSeconds : kStepSeconds) / (once * load.passes);
  const int samples = std::clamp(static_cast<int>(wanted), load.passes > 1 ? 1 : 5, 60);
  const int settling = load.prefill ? static_cast<int>(kPromptSettles / once) : samples / 3;
  for (int i = 0; i < std::max(1, settling); ++i) graphs.front().replay(bench_.stream);
  const Events events(static_cast<std::size_t>(samples) + 1);
  events.record(0, bench_.stream);
  for (int i = 0; i < samples; ++i) {
    for (const Graph& graph : graphs) graph.replay(bench_.stream);
    events.record(static_cast<std::size_t>(i) + 1, bench_.stream);
  }
  (void)events.between(0, static_cast<std::size_t>(samples) / 2);
  result.clock_hz = bench_.monitor.read().clock_hz;
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    times.push_back(events.between(static_cast<std::size_t>(i), static_cast<std::size_t>(i) + 1));
  }
  const Timing timing = summarise(std::move(times));
  result.seconds = timing.seconds;
  result.low = timing.low;
  result.high = timing.high;
  result.samples = timing.samples;
  result.watts = drawn([&] {
    for (int i = 0; i < std::max(1, static_cast<int>(kBurstSeconds / once)); ++i) {
      graphs[static_cast<std::size_t>(i) % graphs.size()].replay(bench_.stream);
    }
    check(gpuStreamSynchronize(bench_.stream), "running steps for their power");
  });
  // Passes are those of a smaller batch, whose operators are timed there.
  if (with_operators && load.passes == 1) result.operators = operators(load);
  return result;
}

std::string describe(const Load& load, const std::string& precision) {
  return std::string(load.prefill ? "prefill " : "decode ") + precision + " batch=" + std::to_string(load.batch) +
         " context=" + std::to_string(load.context);
}

/// A decoder of no model in particular, eight layers of it: enough to pass the cache, few enough to be quick.
ModelShape usual_decoder() {
  ModelShape shape;
  shape.layers = 8, shape.hidden = 5120, shape.heads = 40, shape.kv_heads = 10, shape.ffn = 13824;
  shape.vocabulary = 32000;
  shape.name = "dense:layers=8,hidden=5120,heads=40,kv_heads=10,ffn=13824,gated=1,vocab=32000,tied=0";
  return shape;
}

/// Memory for the loads, then one after the other; what does not fit or was disturbed twice is written down.
void measure_loads(Bench& bench, Decoder& decoder, const std::vector<Load>& loads, const std::string& precision,
                   bool with_operators, const std::string& model) {
  const auto skip = [&](const Load& load, const std::string& why) { bench.skip(describe(load, precision), why); };
  try {
    decoder.reserve(loads);
  } catch (const GpuFailure& failure) {
    (void)gpuGetLastError();
    for (const Load& load : loads) skip(load, failure.text);
    return;
  }
  for (const Load& load : loads) {
    if (bench.interrupted()) return;
    bench.report(std::min(bench.done / bench.planned, 1.0), describe(load, precision));
    bench.done += 2;
    if (const std::string why = decoder.refusal(load); !why.empty()) {
      skip(load, why);
      continue;
    }
    try {
      ModelStep step;
      const std::string disturbed = bench.undisturbed([&] { step = decoder.measure(load, with_operators); });
      if (!disturbed.empty()) {
        skip(load, disturbed);
        continue;
      }
      step.model = model;
      bench.profile.steps.push_back(std::move(step));
    } catch (const GpuFailure& failure) {
      skip(load, failure.text);
      (void)gpuGetLastError();
    }
  }
}

/// The fewest passes, of equally many sequences each, that stay below the most tokens; 0 if one sequence is longer.
int passes_of(int batch, int context, int most_tokens) {
  for (int passes = 1; passes <= batch; ++passes) {
    if (batch % passes == 0 && static_cast<std::int64_t>(batch / passes) * context <= most_tokens) return passes;
  }
  return 0;
}

}  // namespace

void measure_steps(Bench& bench, bool full) {
  std::vector<Load> loads = {{false, 1, 2048}, {false, 16, 2048}, {false, 64, 2048}, {false, 256, 2048},
                             {true, 1, 1024},  {true, 1, 4096},   {true, 4, 2048},   {true, 16, 1024}};
  if (full) {
    for (const int batch : {4, 32, 128}) loads.push_back({false, batch, 4096});
    for (const int batch : {2, 8}) loads.push_back({true, batch, 2048});
  }
  const ModelShape shape = usual_decoder();
  const bool fp8 = std::stod(bench.profile.facts.compute_capability) >= 8.9;
  for (const GemmFormat format : {GemmFormat::bf16, GemmFormat::fp8}) {
    if (bench.interrupted() || (format == GemmFormat::fp8 && !fp8)) return;
    Decoder decoder(bench, shape, format);
    measure_loads(bench, decoder, loads, name(format), false, shape.name);
  }
}

void run_model(Bench& bench, const Arguments& arguments) {
  const auto cells = static_cast<double>(arguments.batches.size() * arguments.contexts.size());
  bench.planned = 2 * cells * static_cast<double>(arguments.phases.size() * arguments.precisions.size());
  for (const std::string& precision : arguments.precisions) {
    if (bench.interrupted()) return;
    std::optional<Decoder> decoder;
    std::string failed;
    try {
      decoder.emplace(bench, arguments.model, precision == "fp8" ? GemmFormat::fp8 : GemmFormat::bf16);
    } catch (const GpuFailure& failure) {
      (void)gpuGetLastError();
      failed = "weights: " + failure.text;
    }
    for (const std::string& phase : arguments.phases) {
      std::vector<Load> loads;
      for (const int batch : arguments.batches) {
        for (const int context : arguments.contexts) {
          Load load{phase == "prefill", batch, context};
          if (load.prefill) load.passes = passes_of(batch, context, arguments.most_tokens);
          if (load.passes == 0) {
            bench.skip(describe(load, precision), "a sequence is longer than --most-tokens");
          } else if (!decoder) {
            bench.skip(describe(load, precision), failed);
          } else {
            loads.push_back(load);
          }
        }
      }
      if (decoder) measure_loads(bench, *decoder, loads, precision, true, "");
    }
  }
}

}  // namespace ridge::measure
