#include "app/cli/line/offers.hpp"

#include <utility>

#include "app/cli/session/session.hpp"
#include "economics/economics_data.hpp"
#include "ridge/catalogue/engine.hpp"
#include "ridge/perf/perf.hpp"

namespace ridge::cli {

namespace {

template <class Entries>
std::vector<std::string> ids_of(const Entries& entries) {
  std::vector<std::string> ids;
  for (const auto& entry : entries) ids.push_back(entry.id);
  return ids;
}

template <class Entries>
std::vector<std::string> economic_ids(Session& session, const Entries EconomicsData::*entries) {
  if (session.options().settings.empty()) {
    const Result<const EconomicsData*> data = session.economics();
    return data ? ids_of((**data).*entries) : std::vector<std::string>{};
  }
  // What a what-if is about is not known yet, so its catalogue cannot be read.
  const Result<std::string> directory = session.data_directory();
  const Result<const Catalogue*> names = session.names();
  if (!directory || !names) return {};
  const Result<EconomicsData> data = load_economics(*directory + "/economics", **names);
  return data ? ids_of((*data).*entries) : std::vector<std::string>{};
}

}  // namespace

std::vector<std::string> offer_energy_regions(Session& session, const std::vector<std::string>& /*before*/) {
  return economic_ids(session, &EconomicsData::regions);
}

std::vector<std::string> offer_api_offers(Session& session, const std::vector<std::string>& /*before*/) {
  return economic_ids(session, &EconomicsData::offers);
}

std::vector<std::string> offer_failure_records(Session& session, const std::vector<std::string>& /*before*/) {
  return economic_ids(session, &EconomicsData::records);
}

std::vector<std::string> offer_practices(Session& session, const std::vector<std::string>& /*before*/) {
  return economic_ids(session, &EconomicsData::practices);
}

std::vector<std::string> offer_storage_tiers(Session& session, const std::vector<std::string>& /*before*/) {
  return economic_ids(session, &EconomicsData::tiers);
}

std::vector<std::string> offer_models(Session& session, const std::vector<std::string>& /*before*/) {
  const auto catalogue = session.names();
  return catalogue ? ids_of((*catalogue)->models()) : std::vector<std::string>{};
}

std::vector<std::string> offer_devices(Session& session, const std::vector<std::string>& /*before*/) {
  const auto catalogue = session.names();
  return catalogue ? ids_of((*catalogue)->devices()) : std::vector<std::string>{};
}

std::vector<std::string> offer_systems(Session& session, const std::vector<std::string>& /*before*/) {
  const auto catalogue = session.names();
  return catalogue ? ids_of((*catalogue)->systems()) : std::vector<std::string>{};
}

std::vector<std::string> offer_engines(Session& session, const std::vector<std::string>& /*before*/) {
  const auto engines = session.engines();
  return engines ? ids_of((*engines)->all()) : std::vector<std::string>{};
}

std::vector<std::string> offer_formats(Session& /*session*/, const std::vector<std::string>& /*before*/) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kFormats; ++i) names.emplace_back(name(static_cast<Format>(i)));
  return names;
}

Completer offer(std::vector<std::string> known) {
  return [known = std::move(known)](Session&, const std::vector<std::string>&) { return known; };
}

}  // namespace ridge::cli
