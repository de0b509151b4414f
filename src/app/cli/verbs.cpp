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
    Verb{"estimate", "does it fit, how fast is it, what binds it",
         "`infer` answers for serving: throughput, latency, memory, energy, each with an 80 % interval, what binds it "
         "and "
         "what would help.\n\n"
         "A model is an id of the catalogue, the path of a config.json, or written out (dense:layers=32,...). What is "
         "not said is chosen and listed under 'Assumed'. A plan that cannot run ends with exit code 2, the reason, "
         "and the nearest that can.",
         "ridge estimate infer --model llama3.3-70b --device h200-sxm --gpus 2 --precision fp8 --isl 1000 --osl 250 "
         "--concurrency 64\n"
         "ridge estimate infer --model deepseek-r1 --device b200-sxm-180 --gpus 8 --offline --explain\n"
         "ridge estimate infer --model llama3.1-8b --device h100-sxm --batch 1 --set device.hbm_bandwidth=8TB/s --json",
         declare_estimate},
    Verb{"validate", "predictions beside published measurements, or beside yours",
         "Runs every case of the bundled evidence, or of your own files with the same columns (--cases), and prints "
         "for each "
         "metric how many were predicted, the median and 90th percentile of |predicted/measured - 1|, the bias and how "
         "often "
         "the 80 % interval held, beside what the datasheet alone says.\n\n"
         "--cv refits without each model, device or publisher in turn and predicts what was left out. --require turns "
         "bars "
         "into exit code 3: 'output_tok_s@offline<=7.5/23' is a median of 7.5 % and a 90th percentile of 23 %, "
         "'step_time_s>=97' a coverage.\n\n"
         "--gate compares the predictions of a fixed grid with those committed; --update commits them anew.",
         "ridge validate\n"
         "ridge validate --kind inference --by device\n"
         "ridge validate --cases data/evidence/consumer.csv --rows /tmp/rows.csv\n"
         "ridge validate --gate",
         declare_validate},
    Verb{"calibrate", "fit the parameters to evidence, or to measurements of your own",
         "Refits the groups of parameters (kernels, inference, training, power, diffusion) to the bundled evidence, "
         "from their "
         "priors, cross-validates, and writes the calibration files. The same evidence gives the same files.\n\n"
         "With --cases it fits only what your stack does differently, a factor on time per engine and model class, and "
         "writes "
         "it to --overlay; other commands take that file by --calibration.",
         "ridge calibrate --group power --no-cv --out /tmp", declare_calibrate},
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
