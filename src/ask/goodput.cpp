// The fields that only questions about failures of a long run have. A new one is a line here.
#include "ridge/economics/goodput.hpp"

#include "ask/member.hpp"
#include "economics/goodput/case.hpp"

namespace ridge::ask {

namespace {

using Goodput = GoodputQuery;
constexpr double kMostRepaired = 1e7;

// clang-format off
constexpr Field kGoodputFields[] = {
    {.key = "record", .value_name = "R", .help = "failure rates as recorded: llama3-405b, rsc-1, rsc-2, opt-175b, nvl72-assumed", .verbs = kGoodput,
     .takes = Takes::named, .named = Named::failure_record, .own = name_in<&Goodput::record>()},
    {.key = "practice", .value_name = "P", .help = "how failures are handled: automated, diagnosed, manual", .verbs = kGoodput,
     .takes = Takes::named, .named = Named::practice, .own = name_in<&Goodput::practice>()},
    {.key = "detection", .value_name = "TIME", .help = "time until a failure is noticed: 60s", .verbs = kGoodput,
     .takes = Takes::seconds, .example = "60s", .zero = true, .own = in<&Goodput::detection_s>()},
    {.key = "restart", .value_name = "TIME", .help = "time until the job is up again: 5min", .verbs = kGoodput,
     .takes = Takes::seconds, .example = "5min", .zero = true, .own = in<&Goodput::restart_s>()},
    {.key = "repair", .value_name = "TIME", .help = "time until a broken unit is a spare again: 24h", .verbs = kGoodput,
     .takes = Takes::seconds, .example = "24h", .zero = true, .own = in<&Goodput::repair_s>()},
    {.key = "spares", .value_name = "N", .help = "spare GPUs that stand ready", .verbs = kGoodput,
     .takes = Takes::whole, .low = 0, .high = kMostRepaired, .own = in<&Goodput::spare_gpus>()},
    {.key = "unit", .value_name = "N", .help = "GPUs that are replaced together", .verbs = kGoodput,
     .takes = Takes::whole, .low = 1, .high = kMostRepaired, .own = in<&Goodput::unit_gpus>()},
    {.key = "domain", .value_name = "N", .help = "GPUs that are down if their links fail", .verbs = kGoodput,
     .takes = Takes::whole, .low = 1, .high = kMostRepaired, .own = in<&Goodput::domain_gpus>()},
    {.key = "strategy", .value_name = "S", .help = "checkpointing: full, sharded, async, in-memory, delta", .verbs = kGoodput,
     .takes = Takes::parsed, .check = can<parse_checkpoint_strategy>, .own = word_in<parse_checkpoint_strategy, &Goodput::strategy>()},
    {.key = "tier", .value_name = "T", .help = "storage of checkpoints: parallel-fs, tectonic, object-store, node-nvme, ...", .verbs = kGoodput,
     .takes = Takes::named, .named = Named::storage_tier, .own = name_in<&Goodput::tier>()},
    {.key = "storage_bandwidth", .value_name = "B/S", .help = "bandwidth of storage, all ranks together: '100 GB/s'", .verbs = kGoodput,
     .takes = Takes::rate, .example = "'100 GB/s'", .own = in<&Goodput::storage_bytes_per_s>()},
    {.key = "checkpoint_size", .value_name = "BYTES", .help = "size of a checkpoint (default: 14 bytes per parameter of the model)", .verbs = kGoodput,
     .takes = Takes::bytes, .example = "1TB", .own = in<&Goodput::checkpoint_bytes>()},
    {.key = "interval", .value_name = "TIME", .help = "time between checkpoints (default: the best)", .verbs = kGoodput,
     .takes = Takes::seconds, .example = "30min", .own = in<&Goodput::interval_s>()},
    {.key = "stragglers", .value_name = "SHARE", .help = "share by which the slowest rank slows all down", .verbs = kGoodput,
     .takes = Takes::share, .own = in<&Goodput::straggler_share>()},
    {.key = "duration", .value_name = "TIME", .help = "length of the run without failures: '60 days'", .verbs = kGoodput,
     .takes = Takes::seconds, .example = "'60 days'", .own = in<&Goodput::useful_s>()},
    {.key = "calendar", .value_name = "TIME", .help = "time the run may take, failures included: '54 days'", .verbs = kGoodput,
     .takes = Takes::seconds, .example = "'60 days'", .own = in<&Goodput::calendar_s>()},
    {.key = "mfu", .value_name = "SHARE", .help = "model FLOPs utilisation, for the length of a run of --tokens with --model", .verbs = kGoodput, .takes = Takes::share},
    {.key = "price", .value_name = "RENT", .help = "price of a GPU-hour, for what failures cost: $2", .verbs = kGoodput,
     .takes = Takes::rent, .own = in<&Goodput::usd_per_gpu_hour>()},
    {.key = "engineer_hours", .value_name = "N", .help = "hours of an engineer per interruption", .verbs = kGoodput,
     .takes = Takes::count, .low = 0, .high = 1e6, .own = in<&Goodput::engineer_hours>()},
    {.key = "trials", .value_name = "N", .help = "number of simulated runs (default: 400)", .verbs = kGoodput, .takes = Takes::whole, .low = 1, .high = 1e6, .own = in<&Goodput::trials>()},
    {.key = "seed", .value_name = "N", .help = "seed of the random draws (default: 1)", .verbs = kGoodput, .takes = Takes::whole, .low = 0, .high = 9e15, .own = in<&Goodput::seed>()},
};
// clang-format on

}  // namespace

std::span<const Field> goodput_fields() {
  return kGoodputFields;
}

}  // namespace ridge::ask
