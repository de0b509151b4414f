// How an engine is told to reach experts on other ranks. Writing and reading share these. Internal to src/facility.
#pragma once

#include <optional>
#include <string_view>

#include "ridge/facility/launch.hpp"

namespace ridge::launch {

/// What stands behind --all2all-backend of vLLM or --moe-a2a-backend of SGLang, and SGLang's --deepep-mode. Empty
/// where nothing is said: the engine gathers, or its plug-in for these devices decides.
struct ExchangeFlags {
  std::string_view backend, mode;
  friend bool operator==(const ExchangeFlags&, const ExchangeFlags&) = default;
};
/// Of the plan. TensorRT-LLM chooses by itself.
[[nodiscard]] ExchangeFlags exchange_flags(const LaunchPlan& plan);
/// What flags mean by themselves, whoever wrote them; nothing: a word of another release.
[[nodiscard]] std::optional<ExpertExchange> exchange_of(LaunchTarget runner, const ExchangeFlags& flags);

/// Whether the engine has the overlap of two batches for the plan's devices and exchange.
[[nodiscard]] bool overlaps_batches(const LaunchPlan& plan);

}  // namespace ridge::launch
