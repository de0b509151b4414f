// Under which heading an option stands on a page of help. Internal to help.cpp.
//
//   help_group("--ttft");        // "Work and limits"
//   help_group("--nothing");     // "More"
//
// One option has one heading on all pages; who adds an option that people will look for adds it here.
#pragma once

#include <array>
#include <string_view>

namespace ridge::cli {

struct HelpGroup {
  std::string_view heading;
  std::string_view options;  ///< with a blank before and after each
};

// NOLINTBEGIN(bugprone-suspicious-missing-comma): long lists over several lines
inline constexpr std::array kHelpGroups = {
    HelpGroup{"Model and hardware", " --model --device --devices --system --gpus "},
    HelpGroup{
        "Work and limits",
        " --isl --osl --workload --ttft --tpot --e2e --prefix-hit --kv-tiers --confidence --batch --concurrency "
        "--offline --prefill --lengths --images --image-size --audio --requests --request-rate --scenario --arrivals "
        "--speed --duration --seed --limit-share --find-rate --kind --nodes "},
    HelpGroup{"The run",
              " --tokens --days --task --seq-length --global-batch --goodput --lora-rank --frozen --example-tokens "
              "--example-cv --packing --steps --resolution "
              "--frames "
              "--passes --text-encoders --mtp --data-rate --data-bytes --scale --from --to "},
    HelpGroup{
        "Reinforcement learning",
        " --algorithm --placement --generators --staleness --partial-rollouts --prompts --samples --prompt-tokens "
        "--answer-tokens --answer-most --answer-cv --answer-lengths --oversample --mini-batch --epochs --reference "
        "--engine-log-probs --critic --reward-model --critic-gpus --verifier-seconds --verifier-parallel "
        "--gen-engine --gen-tp --gen-pp --gen-ep --gen-precision "},
    HelpGroup{"Load and spares",
              " --load --max-load --peak --spares --rolling --traffic --growth --cold-start --replicas --router "
              "--autoscale --scale-target --scale-idle "},
    HelpGroup{
        "Scheduler and cache",
        " --batching --preemption --no-prefix-cache --size-tiers --block-size --poll-steps --gather --gather-ranks "},
    HelpGroup{"Failures",
              " --record --rate --practice --detection --restart --mtbf --kill --repair --unit --domain --stragglers "
              "--trials --engineer-hours "},
    HelpGroup{"Limits of an API", " --rpm --tpm --max-in-system --batch-window --ttft-timeout --idle-timeout "},
    HelpGroup{"Checkpoints", " --strategy --tier --storage-bandwidth --checkpoint-size --interval --calendar "},
    HelpGroup{
        "Prices",
        " --price --lease-month --provider --spot --contract --discount --preemptions --preemption-loss --billing "
        "--platform --offer --api-input --api-output --exchange "},
    HelpGroup{
        "Owning and energy",
        " --server-price --network-price --storage-price --installation-price --cost-of-capital --life --residual "
        "--colocation --electricity --maintenance --staff --software --device-power --idle-power --host-power "
        "--network-power --pue --utilization "},
    HelpGroup{"Throughput, instead of an estimate", " --throughput --input-throughput --mfu "},
    HelpGroup{"Decision and risk", " --speedup --slower --price-decline --horizon --draws "},
    HelpGroup{"Network, storage and racks",
              " --topology --levels --fabric --dataset --checkpoint-interval --checkpoints-kept --storage-write --rack "
              "--rack-power --rack-units --rack-weight --racks --site-power --floor-load --cooling --spike "},
    HelpGroup{"Money and constraints",
              " --budget --power --max-rack --air-cooled --rent --own --purchase --region --price-spread --vendors "
              "--avoid-vendors --origin --destination --vendor-share --fleet --measured --announced --profile "},
    HelpGroup{
        "Precision and engine",
        " --precision --weight-precision --activation-precision --kv-precision --attention-precision --engine "
        "--engine-version --max-batched-tokens --max-num-seqs --gpu-memory-utilization --cpu-offload-gb "
        "--draft-tokens --acceptance --no-speculation --power-cap --compiled --model-offload --wide-layers --offload "
        "--offload-optimizer --offload-weights --optimizer --recompute --recompute-layers "},
    HelpGroup{"Layout",
              " --tp --pp --vp --cp --ep --etp --dp --micro-batch --sharding --shard-group --schedule --cp-kind "
              "--rank-order --dispatch --redundant-experts --two-batch-overlap --eplb --imbalance --capacity --ulysses "
              "--ring --cfg-parallel --vae-parallel --disaggregate --prefill-device --prefill-gpus --prefill-tp "
              "--prefill-dp --prefill-ep --prefill-redundant-experts --prefill-precision --prefill-power-cap --pools "
              "--kv-link --mixed-pools --oversubscription --pod --reduction "},
    HelpGroup{"Result",
              " --objective --top --explain --why --against --html --save --svg --trace --assumptions --requests-csv "
              "--timeline-csv --perfetto "},
    HelpGroup{"Search", " --space --exhaustive --threads --results --resume --shard "},
};
// NOLINTEND(bugprone-suspicious-missing-comma)

inline constexpr std::string_view kMoreOptions = "More";

/// The headings, in the order of a page.
inline constexpr auto kHelpHeadings = [] {
  std::array<std::string_view, kHelpGroups.size() + 1> headings{};
  for (std::size_t i = 0; i < kHelpGroups.size(); ++i) headings[i] = kHelpGroups[i].heading;
  headings.back() = kMoreOptions;
  return headings;
}();

[[nodiscard]] constexpr std::string_view help_group(std::string_view option) {
  for (const HelpGroup& group : kHelpGroups) {
    for (std::size_t at = group.options.find(option); at != std::string_view::npos;
         at = group.options.find(option, at + 1)) {
      if (group.options[at - 1] == ' ' && group.options[at + option.size()] == ' ') return group.heading;
    }
  }
  return kMoreOptions;
}

}  // namespace ridge::cli
