#include "measure/gpu/model_run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>

#include "measure/gpu/attention.hpp"
#include "measure/gpu/bytes.hpp"
#include "measure/gpu/layer_kernels.hpp"

namespace ridge::measure {
namespace {

constexpr double kStepSeconds = 0.25;      // that a step of decode is repeated for
constexpr double kPromptSeconds = 0.8;     // and one of prefill, which draws all the power there is
constexpr double kPromptSettles = 0.5;     // before that, until the power limit has found its clock
constexpr double kOperatorSeconds = 0.04;  // and an operator of it
/// Inside a step attention and norms let the board breathe: short turns decide.
constexpr Tuning kTuning = {.candidates = 6};

struct Load {
  bool prefill = false;
  int batch = 1, context = 1;
  [[nodiscard]] int tokens() const { return prefill ? batch * context : batch; }
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

  /// Adds the step; its operators too if they are wanted.
  void measure(const Load& load, bool with_operators, std::vector<ModelStep>& into);

  /// Memory for the largest load, taken once.
  void reserve(int most_tokens, int most_sequences, int longest);
  [[nodiscard]] bool fits(const Load& load) const { return cache_elements(load) * shape_.layers <= keys_.count(); }

 private:
  enum Projection : std::uint8_t { kQkv, kOutput, kUp, kDown };

  [[nodiscard]] std::size_t cache_elements(const Load& load) const {
    return static_cast<std::size_t>(load.batch) * heads_.kv * load.context * kHeadDim;
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

  void attention(const Load& load, int layer);
  void layer(const Load& load, int layer);
  void step(const Load& load);
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

void Decoder::reserve(int most_tokens, int most_sequences, int longest) {
  const auto tokens = static_cast<std::size_t>(most_tokens);
  const std::size_t ffn = static_cast<std::size_t>(shape_.ffn);
  residual_ = GpuBuffer<std::uint16_t>(tokens * shape_.hidden);
  delta_ = GpuBuffer<std::uint16_t>(tokens * shape_.hidden);
  narrow_in_ = GpuBuffer<std::uint16_t>(tokens * std::max<std::size_t>(shape_.hidden, ffn));
  qkv_ = GpuBuffer<std::uint16_t>(tokens * heads_.qkv_width());
  wide_ = GpuBuffer<std::uint16_t>(tokens * ffn * (shape_.gated ? 2 : 1));
  mixed_ = GpuBuffer<std::uint16_t>(tokens * shape_.heads * kHeadDim);
  last_ = GpuBuffer<std::uint16_t>(static_cast<std::size_t>(most_sequences) * shape_.hidden);
  logits_ = GpuBuffer<std::uint16_t>(static_cast<std::size_t>(most_sequences) * shape_.vocabulary);
  tokens_ = GpuBuffer<int>(tokens);
  rotations_ = GpuBuffer<float2>(static_cast<std::size_t>(longest) * kHeadDim / 2);
  scratch_ = GpuBuffer<float>(64u << 20);
  make_rotations(rotations_.data(), longest, kHeadDim, 500000, bench_.stream);
  check(gpuMemsetAsync(tokens_.data(), 0, tokens_.bytes(), bench_.stream), "clearing tokens");
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
  const std::size_t margin = 2u << 30;
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
  return plans_.emplace(key, blas_.tune({tokens, n[which], k[which], format_}, sets, kTuning)).first->second;
}

const GemmPlan& Decoder::head_plan(int rows) {
  const auto key = std::pair(rows, -1);
  if (const auto at = plans_.find(key); at != plans_.end()) return at->second;
  const std::vector<GemmOperands> sets = {{last_.data(), head_.data(), logits_.data()}};
  const GemmShape shape{rows, shape_.vocabulary, shape_.hidden, GemmFormat::bf16};
  return plans_.emplace(key, blas_.tune(shape, sets, kTuning)).first->second;
}

void Decoder::attention(const Load& load, int layer) {
  AttentionCall c;
  c.queries = qkv_.data();
  c.query_stride = heads_.qkv_width();
  c.keys = keys_.data() + static_cast<std::size_t>(layer) * cache_elements(load);
  c.values = values_.data() + static_cast<std::size_t>(layer) * cache_elements(load);
  c.out = mixed_.data();
  c.narrow = narrow();
  c.q_heads = heads_.query;
  c.kv_heads = heads_.kv;
  c.batch = load.batch;
  c.q_len = load.prefill ? load.context : 1;
  c.kv_len = c.capacity = load.context;
  if (load.prefill) {
    prefill_attention(c, bench_.stream);
  } else {
    decode_attention(c, decode_, scratch_.data(), bench_.stream);
  }
}

void Decoder::layer(const Load& load, int at) {
  const int tokens = load.tokens();
  const gpuStream_t stream = bench_.stream;
  std::uint16_t* keys = keys_.data() + static_cast<std::size_t>(at) * cache_elements(load);
  std::uint16_t* values = values_.data() + static_cast<std::size_t>(at) * cache_elements(load);
  add_norm(residual_.data(), at == 0 ? nullptr : delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens,
           shape_.hidden, stream);
  blas_.run(plan(tokens, kQkv), operands(at, kQkv));
  rotate_and_store(qkv_.data(), keys, values, rotations_.data(), heads_, tokens, load.prefill ? load.context : 1,
                   load.prefill ? 0 : load.context - 1, load.context, stream);
  attention(load, at);
  blas_.run(plan(tokens, kOutput), operands(at, kOutput));
  add_norm(residual_.data(), delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens, shape_.hidden, stream);
  blas_.run(plan(tokens, kUp), operands(at, kUp));
  activate(wide_.data(), narrow_in_.data(), narrow(), shape_.gated, tokens, shape_.ffn, stream);
  blas_.run(plan(tokens, kDown), operands(at, kDown));
}

void Decoder::step(const Load& load) {
  const gpuStream_t stream = bench_.stream;
  embed(embedding_.data(), tokens_.data(), residual_.data(), load.tokens(), shape_.hidden, stream);
  for (int at = 0; at < shape_.layers; ++at) layer(load, at);
  // The last norm works on the last tokens alone; `delta_` of the last layer is added to the residual there.
  add_norm(residual_.data(), delta_.data(), norm_.data(), wide_.data(), Narrow::no, load.tokens(), shape_.hidden,
           stream);
  take_last(wide_.data(), last_.data(), load.batch, load.prefill ? load.context : 1, shape_.hidden, stream);
  blas_.run(head_plan(load.batch), {last_.data(), head_.data(), logits_.data()});
  choose_token(logits_.data(), tokens_.data(), load.batch, shape_.vocabulary, stream);
}

void Decoder::prepare(const Load& load) {
  AttentionCall c;
  c.batch = load.batch;
  c.q_heads = heads_.query;
  c.kv_heads = heads_.kv;
  c.kv_len = load.context;
  decode_ = plan_decode(c, bench_.multiprocessors);
  if (decode_.scratch_floats > scratch_.count()) throw GpuFailure{"scratch is too small for this batch", true};
  for (const Projection which : {kQkv, kOutput, kUp, kDown}) (void)plan(load.tokens(), which);
  (void)head_plan(load.batch);
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
  time(load.prefill ? "attention, prefill" : "attention, decode", layers, [&](int i) { attention(load, i % layers); });
  time("norms and activations", layers, [&](int i) {
    const int at = i % layers;
    add_norm(residual_.data(), delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens, shape_.hidden, stream);
    rotate_and_store(qkv_.data(), keys_.data() + static_cast<std::size_t>(at) * cache_elements(load),
                     values_.data() + static_cast<std::size_t>(at) * cache_elements(load), rotations_.data(), heads_,
                     tokens, load.prefill ? load.context : 1, load.prefill ? 0 : load.context - 1, load.context,
                     stream);
    add_norm(residual_.data(), delta_.data(), norm_.data(), narrow_in_.data(), narrow(), tokens, shape_.hidden, stream);
    activate(wide_.data(), narrow_in_.data(), narrow(), shape_.gated, tokens, shape_.ffn, stream);
  });
  time("LM head", 1, [&](int) { blas_.run(head_plan(load.batch), {last_.data(), head_.data(), logits_.data()}); });
  return out;
}

void Decoder::measure(const Load& load, bool with_operators, std::vector<ModelStep>& into) {
  using Clock = std::chrono::steady_clock;
  prepare(load);
  ModelStep result;
  result.phase = load.prefill ? "prefill" : "decode";
  result.precision = name(format_);
  result.batch = load.batch;
  result.context = load.context;
  step(load);
  check(gpuStreamSynchronize(bench_.stream), "running a step");
  const Graph graph(bench_.stream, [&] { step(load); });
  const double once = [&] {
    const Events events(2);
    graph.replay(bench_.stream);
    events.record(0, bench_.stream);
    graph.replay(bench_.stream);
    events.record(1, bench_.stream);
    return events.between(0, 1);
  }();
  const int samples = std::clamp(static_cast<int>((load.prefill ? kPromptSeconds : kStepSeconds) / once), 5, 60);
  const int settling = load.prefill ? static_cast<int>(kPromptSettles / once) : samples / 3;
  for (int i = 0; i < std::max(1, settling); ++i) graph.replay(bench_.stream);
  const Events events(static_cast<std::size_t>(samples) + 1);
  const Reading before = bench_.monitor.read();
  const auto start = Clock::now();
  events.record(0, bench_.stream);
  for (int i = 0; i < samples; ++i) {
    graph.replay(bench_.stream);
    events.record(static_cast<std::size_t>(i) + 1, bench_.stream);
  }
  (void)events.between(0, static_cast<std::size_t>(samples) / 2);
  result.clock_hz = bench_.monitor.read().clock_hz;
  std::vector<double> times;
  for (int i = 0; i < samples; ++i) {
    times.push_back(events.between(static_cast<std::size_t>(i), static_cast<std::size_t>(i) + 1));
  }
  const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
  const Reading after = bench_.monitor.read();
  const Timing timing = summarise(std::move(times));
  result.seconds = timing.seconds;
  result.low = timing.low;
  result.high = timing.high;
  result.samples = timing.samples;
  result.watts = (after.joules - before.joules) / elapsed;
  if (spoils(after.throttle)) throw GpuFailure{"clocks were slowed: " + throttle_reasons(after.throttle).front()};
  if (with_operators) result.operators = operators(load);
  into.push_back(std::move(result));
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
    decoder.reserve(16384, 256, 4096);
    for (const Load& load : loads) {
      if (bench.interrupted()) return;
      bench.report(std::min(bench.done / bench.planned, 1.0), describe(load, name(format)));
      bench.done += 2;
      try {
        if (!decoder.fits(load)) throw GpuFailure{"keys and values do not fit the memory of the device", true};
        decoder.measure(load, false, bench.profile.steps);
        bench.profile.steps.back().model = shape.name;
      } catch (const GpuFailure& failure) {
        bench.skip(describe(load, name(format)), failure.text);
        (void)gpuGetLastError();
      }
    }
  }
}

void run_model(Bench& bench, const Arguments& arguments) {
  std::vector<Load> loads;
  int most_tokens = 1, most_sequences = 1, longest = 1;
  for (const std::string& phase : arguments.phases) {
    for (const int batch : arguments.batches) {
      for (const int context : arguments.contexts) {
        const Load load{phase == "prefill", batch, context};
        if (load.tokens() > arguments.most_tokens) {
          bench.skip(describe(load, ""), "more than " + std::to_string(arguments.most_tokens) + " tokens in one pass");
          continue;
        }
        loads.push_back(load);
        most_tokens = std::max(most_tokens, load.tokens());
        most_sequences = std::max(most_sequences, batch);
        longest = std::max(longest, context);
      }
    }
  }
  bench.planned = static_cast<double>(loads.size() * arguments.precisions.size());
  for (const std::string& precision : arguments.precisions) {
    if (bench.interrupted()) return;
    Decoder decoder(bench, arguments.model, precision == "fp8" ? GemmFormat::fp8 : GemmFormat::bf16);
    decoder.reserve(most_tokens, most_sequences, longest);
    for (const Load& load : loads) {
      if (bench.interrupted()) return;
      bench.report(std::min(bench.done / bench.planned, 1.0), describe(load, precision));
      bench.done += 1;
      if (!decoder.fits(load)) {
        bench.skip(describe(load, precision), "keys and values do not fit the memory of the device");
        continue;
      }
      try {
        decoder.measure(load, true, bench.profile.steps);
      } catch (const GpuFailure& failure) {
        bench.skip(describe(load, precision), failure.text);
        (void)gpuGetLastError();
      }
    }
  }
}

}  // namespace ridge::measure
