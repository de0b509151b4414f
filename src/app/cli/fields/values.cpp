#include "app/cli/fields/values.hpp"

#include <algorithm>

#include "app/cli/line/offers.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/session.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"
#include "ridge/serve/workload.hpp"
#include "search/buyer/policy.hpp"

namespace ridge::cli::value {

namespace {

constexpr double kMostOfFleet = 1 << 20;

Takes some_model() {
  return either(one_of({"largest"}), parts(model()));
}

Takes some_devices() {
  Takes devices = either(one_of({"all"}), parts(device()));
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
  return listed(
      [known](Session& session, const std::string& text) {
        const std::vector<std::string> all = known(session, {});
        return search::check_vendors("", split_words(text, ','), {all.begin(), all.end()});
      },
      known);
}

Takes countries_of_origin() {
  return listed([](Session& session, const std::string& text) -> Status {
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

/// "h100-sxm:64,a100-sxm-80:32".
Takes fleet() {
  return listed([device = device().check](Session& session, const std::string& text) -> Status {
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

std::vector<std::string> workload_names(Session& session, const std::vector<std::string>&) {
  const Result<std::string> data = session.data_directory();
  return data ? workload_ids(*data + "/workloads") : std::vector<std::string>{};
}

/// A name of the data, or a file where files may be named.
Takes workload() {
  Takes known = one_of(workload_names, "workload");
  Takes filed = file();
  return Takes(
      [known = known.check, filed = filed.check](Session& session, const std::string& text) {
        const bool is_path = text.find('/') != std::string::npos || text.ends_with(".toml") || text.ends_with(".csv") ||
                             text.ends_with(".jsonl");
        return is_path ? filed(session, text) : known(session, text);
      },
      workload_names);
}

template <class Entry>
std::vector<std::string> ids_of(const std::vector<Entry>& all) {
  std::vector<std::string> ids;
  for (const Entry& one : all) ids.push_back(one.id);
  return ids;
}

std::vector<std::string> cooling_ids(Session& session, const std::vector<std::string>&) {
  const auto data = session.facility();
  return data ? ids_of((*data)->cooling) : std::vector<std::string>();
}

std::vector<std::string> rack_ids(Session& session, const std::vector<std::string>&) {
  const auto data = session.facility();
  return data ? ids_of((*data)->racks) : std::vector<std::string>();
}

std::vector<std::string> fabric_ids(Session& session, const std::vector<std::string>&) {
  std::vector<std::string> ids;
  if (const auto names = session.names()) {
    for (const Fabric& fabric : (*names)->fabrics()) ids.push_back(fabric.id);
  }
  return ids;
}

/// What only the session's data can say is a name.
Takes named(ask::Named what) {
  switch (what) {
    case ask::Named::workload:
      return workload();
    case ask::Named::device:
      return device();
    case ask::Named::price_place:
      return price_place();
    case ask::Named::energy_region:
      return one_of(offer_energy_regions, "region");
    case ask::Named::region_or_place:
      return either(one_of(offer_energy_regions, "region"), price_place());
    case ask::Named::api_offer:
      return one_of(offer_api_offers, "offer");
    case ask::Named::failure_record:
      return one_of(offer_failure_records, "failure record");
    case ask::Named::practice:
      return one_of(offer_practices, "practice");
    case ask::Named::storage_tier:
      return one_of(offer_storage_tiers, "storage tier");
    case ask::Named::fabric:
      return one_of(fabric_ids, "fabric");
    case ask::Named::rack:
      return one_of(rack_ids, "rack");
    case ask::Named::cooling:
      return one_of(cooling_ids, "cooling");
    case ask::Named::models:
      return some_model();
    case ask::Named::devices:
      return some_devices();
    case ask::Named::vendors:
      return vendors();
    case ask::Named::countries:
      return countries_of_origin();
    case ask::Named::destination:
      return destination();
    case ask::Named::fleet:
      return fleet();
    case ask::Named::read_file:
      return file();
    case ask::Named::made_folder:
      return made_folder();
    case ask::Named::nothing:
      break;
  }
  return line();
}

}  // namespace

Takes of(const ask::Field& field) {
  const bool compared = (field.verbs & (ask::kSimulation - 1)) != 0;  // lists of values, to be put side by side
  const auto of_list = [&](Takes one) { return compared ? parts(std::move(one)) : one; };
  switch (field.takes) {
    case ask::Takes::named:
      return named(field.named);
    case ask::Takes::model:
      return of_list(model());
    case ask::Takes::device:
      return of_list(device());
    case ask::Takes::system:
      return of_list(system());
    case ask::Takes::engine:
      return of_list(engine());
    case ask::Takes::format:
      return of_list(format());
    case ask::Takes::formats:
      return parts(format());
    case ask::Takes::file:
      return written();
    default:
      break;
  }
  std::vector<std::string> words;
  std::vector<int> values;  // a second spelling of the same is not offered
  for (const ask::Word& word : field.words) {
    if (std::find(values.begin(), values.end(), word.value) != values.end()) continue;
    values.push_back(word.value);
    words.emplace_back(word.text);
  }
  if (field.takes == ask::Takes::word && !compared) return one_of(std::move(words));
  Completer offers = words.empty() ? Completer() : offer(std::move(words));
  return of_list(parsed([&field](std::string_view text) { return ask::check_value(field, text); }, std::move(offers)));
}

}  // namespace ridge::cli::value
