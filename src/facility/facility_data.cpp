#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "catalogue/files/table_reader.hpp"
#include "catalogue/files/toml_document.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/folder.hpp"
#include "ridge/facility/facility.hpp"

namespace ridge {

namespace {

std::optional<PriceRange> price_of(TableReader t) {
  const auto low = t.figure<Dollars>("price_low", dollars(1), dollars(1e7));
  const auto high = t.figure<Dollars>("price_high", dollars(1), dollars(1e7));
  if (!low || !high) {
    if (low || high) t.refuse(low ? "price_low" : "price_high", "a range has both ends: price_low and price_high");
    return {};
  }
  if (high->value < low->value) t.refuse("price_high", "has to be at least as much as price_low");
  return PriceRange{low->value, high->value};
}

SwitchModel read_switch(TableReader t) {
  SwitchModel s;
  s.name = t.text("name");
  s.fabric = t.text("fabric");
  s.radix = t.integer("radix", 4, 4096);
  s.rack_units = t.integer("rack_units", 1, 60);
  s.power_max = t.figure<Watts>("power_max", watts(50), watts(50'000));
  s.power_with_optics = t.flag("power_with_optics");
  s.weight = t.figure<Kilograms>("weight", Kilograms(1), Kilograms(500));
  s.latency = t.figure<Seconds>("latency", seconds(1e-9), seconds(1e-4));
  s.price = price_of(t);
  return s;
}

LinkModel read_link(TableReader t) {
  LinkModel l;
  l.name = t.text("name");
  l.medium = t.choice<LinkMedium>("medium", {{"copper", LinkMedium::copper},
                                             {"active optical", LinkMedium::active_optical},
                                             {"multimode", LinkMedium::multimode},
                                             {"single-mode", LinkMedium::single_mode}});
  l.rate = t.quantity<BytesPerSecond>("rate", BytesPerSecond(1e9), BytesPerSecond(1e12));
  l.reach = t.quantity<Metres>("reach", Metres(0.1), Metres(100'000));
  l.transceivers = t.optional_number("transceivers", 0, 4).value_or(0);
  l.fec = t.optional_text("fec");
  l.power = t.figure<Watts>("power", watts(0.01), watts(100));
  l.price = price_of(t);
  return l;
}

ScaleUpDesign read_scale_up(TableReader t) {
  ScaleUpDesign d;
  d.fabric = t.text("fabric");
  d.domain = t.integer("domain", 2, 100'000);
  d.links_per_device = t.integer("links_per_device", 1, 1000);
  d.switch_chips = t.integer("switch_chips", 0, 10'000);
  d.switch_trays = t.optional_integer("switch_trays", 0, 0, 1000);
  return d;
}

StorageClass read_storage(TableReader t) {
  StorageClass s;
  s.name = t.text("name");
  s.kind = t.choice<StorageKind>("kind", {{"local", StorageKind::local},
                                          {"parallel", StorageKind::parallel},
                                          {"object", StorageKind::object},
                                          {"nas", StorageKind::nas}});
  s.posix = t.flag("posix", true);
  s.shared = t.flag("shared", true);
  s.unit = t.figure<BytesPerSecond>("unit", BytesPerSecond(1e8), BytesPerSecond(1e13));
  s.cluster = t.figure<BytesPerSecond>("cluster", BytesPerSecond(1e8), BytesPerSecond(1e14));
  s.capacity = t.figure<Bytes>("capacity", Bytes(1e12), Bytes(1e20));
  s.write_share = t.optional_number("write_share", 0.05, 1).value_or(1);
  s.use = t.text("use");
  s.notes = t.optional_text("notes");
  return s;
}

CoolingClass read_cooling(TableReader t) {
  CoolingClass c;
  c.name = t.text("name");
  c.low = t.quantity<Watts>("low", watts(0), watts(1e6));
  c.high = t.quantity<Watts>("high", watts(1000), watts(1e7));
  c.pue_low = t.number("pue_low", 1, 3);
  c.pue_high = t.number("pue_high", 1, 3);
  c.liquid_to_chip = t.flag("liquid_to_chip");
  if (c.high <= c.low) t.refuse("high", "has to be more than low");
  if (c.pue_high < c.pue_low) t.refuse("pue_high", "has to be at least as much as pue_low");
  return c;
}

RackModel read_rack(TableReader t) {
  RackModel r;
  r.name = t.text("name");
  r.units = t.integer("units", 10, 70);
  r.load = t.quantity<Kilograms>("load", Kilograms(100), Kilograms(5000));
  r.own = t.quantity<Kilograms>("own", Kilograms(20), Kilograms(1000));
  r.width = t.quantity<Metres>("width", Metres(0.4), Metres(1.5));
  r.depth = t.quantity<Metres>("depth", Metres(0.5), Metres(2));
  return r;
}

ErrorCorrection read_correction(TableReader t) {
  ErrorCorrection c;
  c.name = t.text("name");
  c.errors_left = t.optional_number("errors_left", 0, 1).value_or(0);
  return c;
}

RackShare read_rack_share(TableReader t) {
  RackShare s;
  s.devices = t.integer("devices", 1, 100'000);
  s.others = t.optional_integer("others", 0, 0, 1000);
  return s;
}

PowerFeed read_feed(TableReader t) {
  PowerFeed f;
  f.name = t.text("name");
  f.volts = t.number("volts", 12, 1500);
  f.amps = t.number("amps", 5, 3000);
  f.phases = t.integer("phases", 1, 3);
  f.continuous = t.number("continuous", 0.5, 1);
  return f;
}

OsRelease read_os(TableReader t) {
  OsRelease o;
  o.name = t.text("name");
  o.os = t.text("os");
  o.version = t.text("version");
  o.kernel = t.optional_text("kernel");
  o.driver_minimum = t.optional_integer("driver_minimum", 0, 300, 2000);
  o.cuda = t.optional_text("cuda");
  o.container = t.optional_text("container");
  o.rdma = t.optional_text("rdma");
  o.lustre = t.optional_text("lustre");
  o.support = t.text("support");
  o.use = t.optional_text("use");
  o.notes = t.optional_text("notes");
  if (t.has("end_of_support")) o.end_of_support = t.date("end_of_support");
  return o;
}

CudaRelease read_cuda(TableReader t) {
  CudaRelease c;
  c.version = t.text("version");
  c.native = t.text("native");
  c.minimum = t.integer("minimum", 300, 2000);
  return c;
}

DriverBranch read_driver(TableReader t) {
  DriverBranch d;
  d.branch = t.integer("branch", 300, 2000);
  d.kind = t.text("kind");
  if (t.has("end_of_life")) d.end_of_life = t.date("end_of_life");
  d.cuda = t.text("cuda");
  return d;
}

HostRule read_rule(TableReader t) {
  HostRule r;
  r.area = t.text("area");
  r.fact = t.text("fact");
  r.when = t.optional_text("when");
  r.one_of = t.texts("one_of");
  r.none_of = t.texts("none_of");
  r.at_least = t.optional_number("at_least", -1e15, 1e15);
  r.at_most = t.optional_number("at_most", -1e15, 1e15);
  r.severity = t.choice<Severity>(
      "severity", {{"note", Severity::note}, {"warning", Severity::warning}, {"failure", Severity::failure}});
  r.title = t.text("title");
  r.why = t.text("why");
  r.fix = t.text("fix");
  r.cost = t.optional_text("cost");
  const int expectations =
      (r.one_of.empty() ? 0 : 1) + (r.none_of.empty() ? 0 : 1) + (r.at_least ? 1 : 0) + (r.at_most ? 1 : 0);
  if (expectations != 1) t.refuse("fact", "a rule expects exactly one thing: one_of, none_of, at_least or at_most");
  return r;
}

class Loader {
 public:
  explicit Loader(const Catalogue& catalogue) {
    const auto all = catalogue.sources();
    for (std::uint32_t i = 1; i < all.size(); ++i) sources_.add(all[i].id, {i});
  }

  Status file(const std::string& path) {
    const auto text = read_file(path, kTomlSizeLimit);
    if (!text) return text.error();
    const auto root = parse_toml(*text, path);
    if (!root) return root.error();
    for (const TomlMember& member : root->members) {
      if (member.value.kind != TomlNode::Kind::array) return unknown(path, member);
      for (const TomlNode& table : member.value.items) {
        if (const Status s = entry(path, member, table); !s) return s;
      }
    }
    return {};
  }

  FacilityData take() { return std::move(out_); }

 private:
  static Error unknown(const std::string& path, const TomlMember& member) {
    return {ErrorCode::bad_input, place_text(path, member.line, member.column),
            fmt::format("unknown table '{}': write [[switch]], [[link]], [[scale_up]], [[storage]], [[cooling]], "
                        "[[rack]], [[rack_share]], [[fec]], [[feed]], [[os]], [[cuda]], [[driver]] or [[rule]]",
                        member.key)};
  }

  Status entry(const std::string& path, const TomlMember& member, const TomlNode& table) {
    const std::string_view kind = member.key;
    if (kind == "switch") return add(path, kind, table, out_.switches, read_switch);
    if (kind == "link") return add(path, kind, table, out_.links, read_link);
    if (kind == "scale_up") return add(path, kind, table, out_.scale_up, read_scale_up);
    if (kind == "storage") return add(path, kind, table, out_.storage, read_storage);
    if (kind == "cooling") return add(path, kind, table, out_.cooling, read_cooling);
    if (kind == "rack") return add(path, kind, table, out_.racks, read_rack);
    if (kind == "fec") return add(path, kind, table, out_.corrections, read_correction);
    if (kind == "rack_share") return add(path, kind, table, out_.rack_shares, read_rack_share);
    if (kind == "feed") return add(path, kind, table, out_.feeds, read_feed);
    if (kind == "os") return add(path, kind, table, out_.systems, read_os);
    if (kind == "cuda") return add(path, kind, table, out_.cuda, read_cuda);
    if (kind == "driver") return add(path, kind, table, out_.drivers, read_driver);
    if (kind == "rule") return add(path, kind, table, out_.rules, read_rule);
    return unknown(path, member);
  }

  template <class T>
  Status add(const std::string& path, std::string_view kind, const TomlNode& table, std::vector<T>& into,
             T (*read)(TableReader)) {
    const EntryLayer layer{&table, path};
    EntryReader reader(kind, {&layer, 1}, sources_);
    TableReader t = reader.root();
    const std::string id = t.id();
    T item = read(t);
    item.id = id;
    item.source = t.source();
    item.place = t.place();
    if (const Status s = reader.finish(); !s) return s;
    if (!ids_.insert(std::string(kind) + "/" + id).second) {
      return Error{ErrorCode::bad_input, place_text(path, table.line, table.column),
                   fmt::format("there is another {} '{}': ids are unique", kind, id)};
    }
    into.push_back(std::move(item));
    return {};
  }

  SourceIndex sources_;
  FacilityData out_;
  std::set<std::string> ids_;
};

template <class T>
const T* by_id(const std::vector<T>& all, std::string_view id) {
  const auto at = std::find_if(all.begin(), all.end(), [&](const T& item) { return item.id == id; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

std::string_view name(LinkMedium medium) {
  constexpr std::string_view kNames[] = {"copper", "active optical", "multimode", "single-mode"};
  return kNames[static_cast<std::size_t>(medium)];
}

std::string_view name(Severity severity) {
  constexpr std::string_view kNames[] = {"note", "warning", "failure"};
  return kNames[static_cast<std::size_t>(severity)];
}

Watts PowerFeed::usable() const {
  return watts((phases == 3 ? std::sqrt(3.0) : 1.0) * volts * amps * continuous);
}

const SwitchModel* FacilityData::switch_for(std::string_view fabric) const {
  const SwitchModel* best = nullptr;
  for (const SwitchModel& s : switches) {
    if (s.fabric == fabric && (best == nullptr || s.radix > best->radix)) best = &s;
  }
  return best;
}

const LinkModel* FacilityData::link_for(BytesPerSecond rate, Metres length) const {
  const LinkModel* best = nullptr;
  for (const LinkModel& l : links) {
    // A link of another rate than the port's does not fit into it.
    if (std::abs(l.rate / rate - 1) > 0.01 || l.reach < length) continue;
    if (best == nullptr || l.reach < best->reach) best = &l;
  }
  return best;
}

const ScaleUpDesign* FacilityData::scale_up_for(std::string_view fabric, int domain) const {
  const auto at = std::find_if(scale_up.begin(), scale_up.end(),
                               [&](const ScaleUpDesign& d) { return d.fabric == fabric && d.domain == domain; });
  return at == scale_up.end() ? nullptr : &*at;
}

const CoolingClass* FacilityData::cooling_for(Watts per_rack) const {
  const CoolingClass* best = nullptr;
  for (const CoolingClass& c : cooling) {
    if (per_rack <= c.high && (best == nullptr || c.high < best->high)) best = &c;
  }
  return best;
}

const CoolingClass* FacilityData::cooling_class(std::string_view id) const {
  return by_id(cooling, id);
}
const StorageClass* FacilityData::storage_class(std::string_view id) const {
  return by_id(storage, id);
}
const RackModel* FacilityData::rack(std::string_view id) const {
  return by_id(racks, id);
}

const LinkModel* FacilityData::link(std::string_view id) const {
  return by_id(links, id);
}

const ErrorCorrection* FacilityData::correction(std::string_view id) const {
  return by_id(corrections, id);
}

const RackShare* FacilityData::rack_share(std::string_view system) const {
  return by_id(rack_shares, system);
}

int compare_versions(std::string_view a, std::string_view b) {
  const auto next = [](std::string_view& text) {
    long value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const std::size_t dot = std::min(text.find('.'), text.size());
    text.remove_prefix(std::min(dot + 1, text.size()));
    return error == std::errc() ? value : 0L;
  };
  while (!a.empty() || !b.empty()) {
    const long x = next(a);
    const long y = next(b);
    if (x != y) return x < y ? -1 : 1;
  }
  return 0;
}

Result<FacilityData> load_facility(const std::string& directory, const Catalogue& catalogue) {
  const Result<std::vector<std::string>> files = files_in(directory, ".toml");
  if (!files) return files.error();
  Loader loader(catalogue);
  for (const std::string& file : *files) {
    if (const Status s = loader.file(file); !s) return s.error();
  }
  return loader.take();
}

}  // namespace ridge
