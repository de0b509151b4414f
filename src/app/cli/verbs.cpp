#include "app/cli/verbs.hpp"

#include <array>

namespace ridge::cli {

namespace {

constexpr std::array kVerbs = {
    Verb{"show", "what the catalogue holds: devices, systems, fabrics, models, prices and their sources",
         "A kind alone is listed; with an ID the entry is explained, every figure with its source. Numbers in "
         "conditions "
         "carry their unit: memory>=80GB, memory_bandwidth>3TB/s, parameters<=70B.",
         "ridge show h200-sxm\n"
         "ridge show devices --vendor NVIDIA --where 'memory_bandwidth>=3TB/s' --sort -memory\n"
         "ridge show models --where 'parameters<=10B' --columns id,layers,hidden,weights.fp8\n"
         "ridge show prices --device h100-sxm --kind on_demand --sort price\n"
         "ridge show systems --json",
         declare_show},
    Verb{"completion", "print a completion script for a shell",
         "Completes verbs, options, kinds, ids and keys. For bash: put `source <(ridge completion bash)` into "
         "~/.bashrc. "
         "For zsh: write the script into a file named _ridge in a directory of $fpath.",
         "ridge completion bash", declare_completion},
};

}  // namespace

std::span<const Verb> verbs() {
  return kVerbs;
}

}  // namespace ridge::cli
