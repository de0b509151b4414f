#include "app/cli/plan_flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>

#include "app/cli/offers.hpp"
#include "app/cli/plan_run.hpp"
#include "app/cli/session.hpp"
#include "app/cli/value.hpp"
#include "ridge/kv_tiers.hpp"
#include "ridge/letters.hpp"
#include "ridge/limits.hpp"
#include "ridge/text.hpp"
#include "search/policy.hpp"

namespace ridge::cli {

namespace {

constexpr double kMostOfFleet = 1 << 20;
constexpr unsigned kServePlan = static_cast<unsigned>(PlanKind::serve);
constexpr unsigned kTrainPlan = static_cast<unsigned>(PlanKind::train);
constexpr unsigned kRlPlan = static_cast<unsigned>(PlanKind::rl);
constexpr unsigned kBoth = kServePlan | kTrainPlan;
constexpr unsigned kEvery = kBoth | kRlPlan;

Takes some_model() {
  return value::either(value::one_of({"largest"}), value::parts(value::model()));
}

Takes some_devices() {
  Takes devices = value::either(value::one_of({"all"}), value::parts(value::device()));
  devices.completer = [](Session& session, const std::vector<std::string>& before) {
    std::vector<std::string> ids = offer_devices(session, before);
    ids.insert(ids.begin(), "all");
    return ids;
  };
  return devices;
}

/// A typo here would let everything through, so that nothing is asked before they are known.
Takes vendors() {
  const auto known = [](Session& session, const std::vector<std::string>&) {
    std::vector<std::string> names;
    if (const Result<const Catalogue*> catalogue = session.names()) {
      for (const Device& device : (*catalogue)->devices()) names.push_back(device.vendor);
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
  };
  return value::listed(
      [known](Session& session, const std::string& text) {
        const std::vector<std::string> all = known(session, {});
        return search::check_vendors("", split_words(text, ','), {all.begin(), all.end()});
      },
      known);
}

Takes countries_of_origin() {
  return value::listed([](Session& session, const std::string& text) -> Status {
    const Result<const search::Policy*> policy = session.policy();
    if (!policy) return policy.error();
    const auto found = (*policy)->vendors_from(split_words(text, ','));
    return found ? Status() : Status(found.error());
  });
}

Takes destination() {
  return {[](Session& session, const std::string& text) -> Status {
            const Result<const search::Policy*> policy = session.policy();
            if (!policy) return policy.error();
            const auto found = (*policy)->destination(text);
            return found ? Status() : Status(found.error());
          },
          {}};
}

/// A name of data/workloads, or a file.
Takes workload_of_requests() {
  const auto names = [](Session& session, const std::vector<std::string>&) {
    const Result<std::string> data = session.data_directory();
    return data ? workload_ids(*data + "/workloads") : std::vector<std::string>{};
  };
  return {[named = value::one_of(names, "workload").check, file = value::file().check](
              Session& session, const std::string& text) -> Status {
            return text.ends_with(".toml") ? file(session, text) : named(session, text);
          },
          names};
}

/// "h100-sxm:64,a100-sxm-80:32".
Takes fleet() {
  return value::listed([device = value::device().check](Session& session, const std::string& text) -> Status {
    for (const std::string& part : split_words(text, ',')) {
      const std::size_t colon = part.find(':');
      const Result<double> number =
          colon == std::string::npos ? Result<double>(Error{}) : parse_count(std::string_view(part).substr(colon + 1));
      if (!number || *number < 1 || *number > kMostOfFleet) {
        return Error{ErrorCode::bad_input, "", "write devices and how many there are: h100-sxm:64,a100-sxm-80:32"};
      }
      if (const Status s = device(session, part.substr(0, colon)); !s) return s;
    }
    return {};
  });
}

Status check_shard(std::string_view text) {
  PlanRun unused;
  return parse_shard(std::string(text), unused);
}

Status check_threads(std::string_view text) {
  const Result<double> number = parse_count(text);
  if (!number) return number.error();
  if (*number > limits::kThreads.most) return Error{ErrorCode::bad_input, "", limits::beyond(limits::kThreads)};
  return *number >= 1 && *number == std::floor(*number)
             ? Status()
             : Status(Error{ErrorCode::bad_input, "", "a whole number >= 1"});
}

}  // namespace

std::string_view name(PlanKind kind) {
  return kind == PlanKind::serve ? "serve" : kind == PlanKind::train ? "train" : "rl";
}

PlanFlags::PlanFlags() {
  const auto add = [&](const char* flag, const char* value, const char* help, unsigned kinds, bool describes = true,
                       Takes takes = {}) {
    flags_.push_back({flag, value, help, kinds, describes, std::move(takes)});
  };
  add("--model", "M", "an id, the path of a config.json, or written out: dense:layers=32,...", kEvery, true,
      some_model());
  // the work
  add("--request-rate", "R", "requests per second; left out with --gpus: as many as these can take", kServePlan, true,
      value::number(1e-6, 1e9));
  add("--isl", "TOKENS", "input of a request", kServePlan, true, value::number(1, limits::kRequestTokens.most));
  add("--osl", "TOKENS", "output of a request", kServePlan, true, value::number(1, limits::kRequestTokens.most));
  add("--workload", "W",
      "a name (chat, code, rag, mooncake, agent, ...) or a workload.toml: lengths and gaps as they vary; sessions "
      "of several turns (agent) are played, and --kv-tiers sized for them",
      kServePlan, true, workload_of_requests());
  add("--ttft", "TIME", "time to first token, at most: 1s", kServePlan, true, value::quantity<Seconds>("1s"));
  add("--tpot", "TIME", "time per output token, at most: 40ms", kServePlan, true, value::quantity<Seconds>("1s"));
  add("--e2e", "TIME", "time of a whole request, at most", kServePlan, true, value::quantity<Seconds>("1s"));
  add("--prefix-hit", "SHARE", "of the input that a prefix cache holds", kServePlan, true, value::share());
  add("--kv-tiers", "LIST", "memories below the device's that may be had: host:1TB:50GB/s,ssd:8TB:12GB/s:100us",
      kServePlan, false, value::parsed([](std::string_view text) -> Status {
        const auto tiers = parse_tiers(text);
        return tiers ? Status() : Status(tiers.error());
      }));
  add("--confidence", "SHARE", "probability with which rate and limits, or days and budget, have to hold: 80%", kBoth,
      true, value::share());
  add("--load", "SHARE", "mean load of a replica, at most, of what it is predicted to do within the limits", kServePlan,
      true, value::share());
  add("--max-load", "SHARE", "load at the busiest time with all replicas up, at most: 85%", kServePlan, true,
      value::share());
  add("--peak", "TIMES", "rate and limits hold at this many times --request-rate: 3x", kServePlan, true,
      value::parsed(parse_peak));
  add("--spares", "WHAT", "that may be down then: N+1, N+2, node or rack", kServePlan, true,
      value::parsed(parse_spares, offer({"N+1", "N+2", "node", "rack"})));
  add("--rolling", "N", "replicas that an update restarts at a time, besides --spares: limits hold meanwhile",
      kServePlan, true, value::whole(1, 1000));
  add("--traffic", "FILE", "a day or week as CSV (hour, requests_per_s): the peak, and the bill of a month", kServePlan,
      true, value::file());
  add("--growth", "SHARE", "of the traffic a month, with --traffic: 10%", kServePlan, true, value::share());
  add("--cold-start", "T", "until a replica that is started serves, with --traffic or --rolling; 2min", kServePlan,
      true, value::quantity<Seconds>("2min"));
  add("--tokens", "N", "to train on: 15T", kTrainPlan, true, value::number(1, 1e18));
  add("--days", "N", "for the run, at most", kTrainPlan, true, value::number(1e-3, 1e5));
  add("--seq-length", "TOKENS", "of one training sequence", kTrainPlan, true, value::whole(1, 1 << 24));
  add("--global-batch", "N", "sequences of one step", kTrainPlan, true, value::whole(1, 1 << 24));
  add("--task", "T", "pretrain, sft or lora", kTrainPlan, true,
      value::parsed(parse_training_task, offer({"pretrain", "sft", "lora"})));
  add("--goodput", "SHARE", "of the time that counts: without failures and restarts", kTrainPlan, true, value::share());
  // the space
  add("--devices", "LIST", "all, or ids: h100-sxm,mi300x", kEvery, true, some_devices());
  add("--gpus", "N", "serve: the most devices to use; train: how many, or a list: 512,1024", kEvery, true,
      value::parts(value::whole(1, 1 << 20)));
  add("--engine", "E", "vllm, trtllm, sglang, ...; megatron, nemo, fsdp, ...", kEvery, true, value::engine());
  add("--precision", "LIST", "of the weights, or of training: bf16,fp8", kEvery, true, value::parts(value::format()));
  add("--kv-precision", "LIST", "of the KV cache: bf16,fp8", kServePlan, true, value::parts(value::format()));
  add("--tp", "N", "tensor parallel, fixed", kEvery, true, value::whole(1, 1024));
  add("--pp", "N", "pipeline stages, fixed", kEvery, true, value::whole(1, 1024));
  add("--power-cap", "LIST", "of each device: 500W,600W, or search: none, and 90 to 40 % of its limit", kBoth, true,
      value::parts(value::either(value::one_of({"search", "none"}), value::quantity<Watts>("500W", limits::kPower))));
  add("--mixed-pools", "", "prefill and decode may run on devices of different vendors", kServePlan);
  add("--no-speculation", "", "models that predict tokens ahead do not use it", kServePlan);
  add("--vp", "N", "chunks of a stage, fixed", kTrainPlan, true, value::whole(1, 1024));
  add("--cp", "N", "context parallel, fixed", kTrainPlan | kRlPlan, true, value::whole(1, 1024));
  add("--ep", "N", "expert parallel, fixed", kTrainPlan | kRlPlan, true, value::whole(1, 1024));
  add("--micro-batch", "N", "fixed", kTrainPlan | kRlPlan, true, value::whole(1, 65536));
  add("--sharding", "S", "none, zero1, zero2, zero3 or hsdp, fixed", kTrainPlan | kRlPlan, true,
      value::parsed(parse_sharding));
  add("--space", "usual|full", "what engines do by themselves, or every schedule, sharding and offload", kTrainPlan,
      true, value::one_of({"usual", "full"}));
  // the buyer
  add("--objective", "O", "cost, time, energy or gpus", kBoth, true,
      value::parsed(parse_objective, offer({"cost", "time", "energy", "gpus"})));
  add("--budget", "$", "of the run, or of a year of serving: $2M", kBoth, true, value::quantity<Dollars>("$2M"));
  add("--power", "W", "of all devices and hosts: 500kW", kBoth, true, value::quantity<Watts>("40kW", limits::kPower));
  add("--max-rack", "W", "that one rack can supply and cool: 40kW", kBoth, true,
      value::quantity<Watts>("40kW", limits::kPower));
  add("--air-cooled", "", "there is no liquid cooling", kBoth);
  add("--rent", "", "by the hour (the default)", kBoth);
  add("--own", "", "bought and housed", kBoth);
  add("--purchase", "P", "on-demand, spot, reserved, own, or any: the cheapest that has a price", kBoth, true,
      value::parsed(parse_purchase, offer({"on-demand", "spot", "reserved", "own", "any"})));
  add("--region", "R", "prices of this region or provider only", kEvery, true,
      value::either(value::one_of(offer_energy_regions, "region"), value::price_place()));
  add("--price-spread", "", "a price may be any that is quoted: probabilities count the spread of quotes", kBoth);
  add("--vendors", "LIST", "only these", kBoth, true, vendors());
  add("--avoid-vendors", "LIST", "none of these", kBoth, true, vendors());
  add("--origin", "LIST", "vendors of these countries only: CN", kBoth, true, countries_of_origin());
  add("--destination", "C", "country of use: devices that need an export licence for it are left out", kBoth, true,
      destination());
  add("--vendor-share", "SHARE", "of the work with one vendor, at most: 60%", kServePlan, true, value::share());
  add("--fleet", "LIST", "devices that are there already: h100-sxm:64", kBoth, true, fleet());
  add("--measured", "", "only designs of which measurements are published (software maturity)", kBoth);
  add("--announced", "", "also devices that are not on sale yet", kBoth);
  add("--profile", "P", "hyperscaler, enterprise, startup or public-sector: what such buyers usually ask", kBoth, true,
      value::one_of({"hyperscaler", "enterprise", "startup", "public-sector"}));
  // the run
  add("--against", "recipes", "published training recipes beside the plan that is found for each, and why they differ",
      kTrainPlan, true, value::one_of({"recipes"}));
  add("--top", "N", "devices to show", kEvery, false, value::whole(1, 1e6));
  add("--explain", "N", "the plan of line N in full", kBoth, false, value::whole(1, 1e6));
  add("--why", "", "each device that is left out, and how it could come in", kBoth, false);
  add("--exhaustive", "", "evaluate every candidate, leave nothing out by bounds", kBoth, false);
  add("--threads", "N", "CPU threads to use (default: all)", kBoth, false, value::parsed(check_threads));
  add("--results", "FILE", "keep what is found: FILE.sqlite (checkpoint every second), or FILE.csv at the end", kBoth,
      false, value::written());
  add("--resume", "", "go on where --results FILE.sqlite stopped", kBoth, false);
  add("--shard", "I/N", "search part I of N (from 0) and keep it in --results; then ridge plan merge", kBoth, false,
      value::parsed(check_shard));
  add("--html", "FILE", "write a page with the front and the intervals of the best plans", kBoth, false,
      value::written());
  add("--save", "DIR", "write the plans as plan files: DIR/1.toml, ...", kBoth, false, value::made_folder());
}

void PlanFlags::declare(Options& options) {
  for (Flag& flag : flags_) {
    if (flag.value_name.empty()) {
      options.flag(flag.name, flag.on, flag.help);
    } else {
      options.text(flag.name, flag.value_name, flag.value, flag.help, flag.takes);
    }
  }
}

const PlanFlags::Flag& PlanFlags::find(std::string_view flag) const {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  assert(at != flags_.end());
  return *at;
}

const std::string& PlanFlags::value(std::string_view flag) const {
  return find(flag).value;
}

bool PlanFlags::fill(std::string_view flag, const std::string& value) {
  const auto at = std::find_if(flags_.begin(), flags_.end(), [&](const Flag& f) { return f.name == flag; });
  if (at == flags_.end()) return false;
  if (at->value.empty()) at->value = value;
  return true;
}

std::vector<std::string_view> PlanFlags::names() const {
  std::vector<std::string_view> out;
  for (const Flag& flag : flags_) out.push_back(flag.name);
  return out;
}

void PlanFlags::settle() {
  for (Flag& flag : flags_) {
    if (flag.on) flag.value = "true";
  }
}

Status PlanFlags::check(PlanKind kind) const {
  for (const Flag& flag : flags_) {
    if (flag.value.empty() || (flag.kinds & static_cast<unsigned>(kind)) != 0) continue;
    std::string meant;
    for (const PlanKind other : {PlanKind::serve, PlanKind::train, PlanKind::rl}) {
      if ((flag.kinds & static_cast<unsigned>(other)) == 0) continue;
      meant += (meant.empty() ? "" : " and ") + std::string(name(other));
    }
    return Error{ErrorCode::bad_input, flag.name,
                 fmt::format("is for {}, not for {}: leave it out", meant, name(kind))};
  }
  return {};
}

Status PlanFlags::valid(Session& session) const {
  for (const Flag& flag : flags_) {
    if (const Status s = check_value(session, flag.name, flag.takes, flag.value); !s) return s;
  }
  return {};
}

std::string PlanFlags::question(PlanKind kind) const {
  std::string out(name(kind));
  for (const Flag& flag : flags_) {
    if (flag.describes && !flag.value.empty()) out += "\n" + flag.name + "=" + flag.value;
  }
  return out;
}

void PlanFlags::restore(std::string_view question) {
  std::size_t at = question.find('\n');
  while (at != std::string_view::npos) {
    const std::size_t end = question.find('\n', at + 1);
    const std::string_view line = question.substr(at + 1, end == std::string_view::npos ? end : end - at - 1);
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) fill(line.substr(0, equals), std::string(line.substr(equals + 1)));
    at = end;
  }
}

}  // namespace ridge::cli
