// ridge estimate diffusion: time, power and energy of an image or clip, and how they change with size, steps and batch.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/wrong.hpp"
#include "report/estimate/diffusion_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

constexpr int kMostCards = 1024;
constexpr double kMostPixels = 65536;
constexpr double kClipWidth = 1280, kClipHeight = 720;  // unless said otherwise

}  // namespace

Status read_resolution(const std::string& text, double& width_pixels, double& height_pixels) {
  const std::size_t cross = text.find('x');
  const Result<double> width = parse_count(text.substr(0, cross));
  const Result<double> height = cross == std::string::npos ? width : parse_count(text.substr(cross + 1));
  const auto sensible = [](const Result<double>& pixels) { return pixels && *pixels >= 1 && *pixels <= kMostPixels; };
  if (!sensible(width) || !sensible(height)) {
    return wrong("--resolution", quoted(text) + " is no size in pixels: write 1024 or 1920x1080");
  }
  width_pixels = *width;
  height_pixels = *height;
  return {};
}

namespace {

Result<report::DiffusionAnswer> question(const EstimateFlags& flags, const Catalogue& catalogue) {
  report::DiffusionAnswer a;
  DiffusionQuery& q = a.query;
  if (!flags.given("--model")) return wrong("--model", "name a model, for example --model flux.1-dev");
  if (!flags.given("--device")) return wrong("--device", "name a device, for example --device h100-sxm");
  q.model = flags.value("--model");
  q.device = flags.value("--device");
  if (flags.given("--engine")) q.engine = flags.value("--engine");
  const auto whole = [&](const char* flag, int& into) -> Status {
    const Result<int> number = flags.whole(flag, into, 1, kMostCards);
    if (!number) return number.error();
    into = *number;
    return {};
  };
  if (const Status s = whole("--gpus", q.gpus); !s) return s.error();
  if (const Status s = whole("--ulysses", q.ulysses); !s) return s.error();
  if (const Status s = whole("--ring", q.ring); !s) return s.error();
  if (const Status s = whole("--cfg-parallel", q.cfg); !s) return s.error();
  if (const Status s = whole("--passes", q.passes); !s) return s.error();
  q.compiled = flags.is_on("--compiled");
  q.takes_turns = flags.is_on("--model-offload");
  q.vae_parallel = flags.is_on("--vae-parallel");
  if (flags.given("--precision")) {
    const Result<Format> format = parse_format(flags.value("--precision"));
    if (!format) return wrong("--precision", format.error().message);
    q.weights = *format;
  }
  if (flags.given("--attention-precision")) {
    const Result<Format> format = parse_format(flags.value("--attention-precision"));
    if (!format) return wrong("--attention-precision", format.error().message);
    if (bytes_per_element(*format) < 1) {
      return wrong("--attention-precision", "queries, keys and values take 8 bits or more: fp8, bf16");
    }
    q.attention = *format;
  }
  if (flags.given("--power-cap")) {
    const Result<Watts> cap = parse_quantity<Watts>(flags.value("--power-cap"));
    if (!cap || *cap <= Watts(0)) return wrong("--power-cap", "write a power above 0, for example 500W");
    q.power_cap = cap->value();
  }
  const auto count = [&](const char* flag, const char* what, double& into, double most) -> Status {
    const Result<double> number = flags.count(flag, into, 1, most);
    if (!number) return number.error();
    into = *number;
    if (!flags.given(flag)) a.assumptions.push_back(fmt::format("{:.0f} {}", into, what));
    return {};
  };
  const Result<Model> model = catalogue.find_model(q.model);  // resolve() says what is wrong with the name
  if (model && model->diffusion.steps > 0) q.load.steps = model->diffusion.steps;
  const bool clip = model && model->diffusion.frames > 1;
  if (const Status s = count("--steps", "steps", q.load.steps, 1e5); !s) return s.error();
  if (const Status s = count("--batch", clip ? "clip a call" : "image a call", q.load.batch, 1e6); !s) return s.error();
  if (clip) {
    q.load.frames = model->diffusion.frames;
    q.load.width = kClipWidth;
    q.load.height = kClipHeight;
    if (const Status s = count("--frames", "frames", q.load.frames, 1e6); !s) return s.error();
  } else if (flags.given("--frames") && flags.value("--frames") != "1") {
    return wrong("--frames",
                 q.model + " makes pictures: leave it out, or name a model of clips such as wan2.2-t2v-a14b");
  }
  if (!flags.given("--resolution")) {
    a.assumptions.push_back(fmt::format("{:.0f} x {:.0f} pixels", q.load.width, q.load.height));
  } else if (const Status s = read_resolution(flags.value("--resolution"), q.load.width, q.load.height); !s) {
    return s.error();
  }
  return a;
}

/// The load itself among half and double of each of its figures.
std::vector<DiffusionLoad> around(const DiffusionLoad& load) {
  std::vector<DiffusionLoad> loads;
  for (const double side : {0.5, 1.0, 2.0}) {
    for (const double batch : {1.0, 4.0}) {
      DiffusionLoad other = load;
      other.width *= side;
      other.height *= side;
      other.batch *= batch;
      loads.push_back(other);
    }
  }
  DiffusionLoad longer = load;
  longer.steps *= 2;
  loads.push_back(longer);
  return loads;
}

/// One line for each change after which it runs, as it is written on the line.
std::string would_fit(const report::DiffusionAnswer& a, const Knowledge& knowledge) {
  if (a.outcome.reason != Reason::out_of_memory) return {};
  std::string lines;
  const auto offer = [&](const std::string& change, const DiffusionQuery& q) {
    const Result<DiffusionPipeline> pipeline = resolve(q, knowledge);
    if (!pipeline) return false;
    const DiffusionOutcome o = evaluate(*pipeline->resolved, q.load);
    if (o.reason != Reason::none) return false;
    lines += fmt::format("\n  {}  fits, {} a call", change, format(Seconds(o.estimate.batch_latency_s.mid)));
    return true;
  };
  for (double batch = std::floor(a.query.load.batch / 2); batch >= 1; batch = std::floor(batch / 2)) {
    DiffusionQuery q = a.query;
    q.load.batch = batch;
    if (offer(fmt::format("--batch {:.0f}", batch), q)) break;
  }
  DiffusionQuery turns = a.query;
  turns.takes_turns = true;
  if (!a.query.takes_turns) offer("--model-offload", turns);
  for (const Format format : {Format::fp8, Format::int8, Format::nvfp4, Format::int4}) {
    DiffusionQuery q = a.query;
    q.weights = format;
    if (q.weights != a.query.weights && offer(fmt::format("--precision {}", name(format)), q)) break;
  }
  turns.weights = Format::fp8;  // what cards for games are mostly asked for
  if (lines.empty() && !a.query.takes_turns) offer("--model-offload --precision fp8", turns);
  // The smallest memory of the same maker in which it fits, no slower than here.
  const auto here = knowledge.catalogue.find_device(a.query.device);
  std::vector<const Device*> larger;
  for (const Device& d : knowledge.catalogue.devices()) {
    if (here && d.vendor == here->vendor && d.memory_capacity && d.status == Sale::shipping) larger.push_back(&d);
  }
  std::stable_sort(larger.begin(), larger.end(), [](const Device* x, const Device* y) {
    return x->memory_capacity->value < y->memory_capacity->value;
  });
  for (const Device* d : larger) {
    const auto less = [](const auto& there, const auto& asked) {
      return !there || !asked || there->value < asked->value;
    };
    constexpr auto kWide = static_cast<std::size_t>(Format::bf16);
    const bool slower =
        less(d->memory_bandwidth, here->memory_bandwidth) || less(d->peak_dense[kWide], here->peak_dense[kWide]);
    if (slower || d->memory_capacity->value <= here->memory_capacity->value) continue;
    DiffusionQuery q = a.query;
    q.device = d->id;
    if (offer("--device " + d->id, q)) break;
  }
  return lines;
}

}  // namespace

Result<int> estimate_diffusion(Session& session, const EstimateFlags& flags) {
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  Result<report::DiffusionAnswer> a = question(flags, knowledge->catalogue);
  if (!a) return a.error();
  const Result<DiffusionPipeline> pipeline = resolve(a->query, *knowledge);
  if (!pipeline) return pipeline.error();
  a->assumptions.insert(a->assumptions.end(), pipeline->assumptions.begin(), pipeline->assumptions.end());
  add_changes(session, a->assumptions);
  a->outcome = evaluate(*pipeline->resolved, a->query.load);
  for (const DiffusionLoad& load : around(a->query.load)) {
    a->sweep.push_back({load, evaluate(*pipeline->resolved, load)});
  }
  const bool refused = a->outcome.reason != Reason::none;
  if (session.form() == Form::json) {
    session.print(report::diffusion_json(*a).text());
    return refused ? kRefused : kFine;
  }
  if (refused) {
    return Error{ErrorCode::infeasible, "",
                 fmt::format("{} on {} × {} cannot run: {}{}", a->query.model, std::max(1, a->query.gpus),
                             a->query.device, report::diffusion_refusal(*a), would_fit(*a, *knowledge))};
  }
  if (session.form() == Form::csv) {
    session.print(to_csv(report::diffusion_table(*a)));
    return kFine;
  }
  session.print(report::diffusion_page(*a));
  return kFine;
}

}  // namespace ridge::cli
