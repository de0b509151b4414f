// What completion offers for the value of an option: names of the catalogue, or words that the program knows.
//
//   options.text("--device", "DEV", device, "the device", offer_devices);
//   options.text("--task", "T", task, "what is trained", offer({"pretrain", "sft", "lora"}));
#pragma once

#include <string>
#include <vector>

#include "app/cli/line/options.hpp"

namespace ridge::cli {

[[nodiscard]] std::vector<std::string> offer_models(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_devices(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_systems(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_engines(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_formats(Session& session, const std::vector<std::string>& before);
/// Ids of data/economics.
[[nodiscard]] std::vector<std::string> offer_energy_regions(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_api_offers(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_failure_records(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_practices(Session& session, const std::vector<std::string>& before);
[[nodiscard]] std::vector<std::string> offer_storage_tiers(Session& session, const std::vector<std::string>& before);
[[nodiscard]] Completer offer(std::vector<std::string> known);

}  // namespace ridge::cli
