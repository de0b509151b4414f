// Users' price lists: SkyPilot's catalogue (vms.csv), gpuhunt's and our own plain columns.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <unordered_map>
#include <utility>

#include "catalogue/tables/device_names.hpp"
#include "catalogue/tables/price_terms.hpp"
#include "catalogue/tables/tables.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/text.hpp"

namespace ridge {

namespace {

constexpr double kMostDevices = 100'000;

/// "a, b, c and 12 more".
std::string enumerate(const std::vector<std::string>& words) {
  constexpr std::size_t kShown = 10;
  std::string text = fmt::format("{}", fmt::join(words.begin(), words.begin() + std::min(words.size(), kShown), ", "));
  if (words.size() > kShown) text += fmt::format(" and {} more", words.size() - kShown);
  return text;
}

/// What the ids of a list begin with.
std::string list_id(std::string_view name) {
  const std::string id = slug(name.substr(0, 60));
  return id.empty() ? "list" : id;
}

struct FileName {
  std::string folder;
  std::string stem;
};

FileName split(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  std::string_view base = slash == std::string_view::npos ? path : path.substr(slash + 1);
  std::string_view folder = slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
  folder = folder.substr(folder.rfind('/') + 1);  // npos + 1 is 0
  base = base.substr(0, base.rfind('.'));
  return {std::string(folder), std::string(base)};
}

/// What the columns of both forms share.
class ListReader {
 public:
  ListReader(const CsvTable& table, SourceId source, const DeviceNames& names)
      : table_(table), source_(source), names_(names), file_(split(table.name())) {}

 protected:
  [[nodiscard]] std::string_view cell(std::size_t row, std::optional<std::size_t> column) const {
    return column ? table_.cell(row, *column) : std::string_view{};
  }
  [[nodiscard]] std::uint32_t line(std::size_t row) const { return table_.line(row, 0); }

  [[nodiscard]] Price started(std::size_t row) const {
    Price price;
    price.source = source_;
    price.place = {table_.name(), line(row)};
    return price;
  }

  const CsvTable& table_;
  SourceId source_;
  const DeviceNames& names_;
  FileName file_;
  PriceList list_;
};

// ---- SkyPilot

/// One row is one instance type in one zone; the price is that of the whole instance for an hour. Other columns than
/// those read here differ by cloud and are of no concern. GCP prices accelerators in rows without an instance type.
class SkyPilotReader : public ListReader {
 public:
  using ListReader::ListReader;

  Result<PriceList> read() {
    for (const auto& [name, column] : {std::pair{"InstanceType", &instance_},
                                       {"AcceleratorName", &accelerator_},
                                       {"AcceleratorCount", &count_},
                                       {"Price", &price_}}) {
      const Result<std::size_t> found = table_.required_column(name);
      if (!found) return found.error();
      *column = *found;
    }
    region_ = table_.column("Region");
    spot_ = table_.column("SpotPrice");
    provider_ = file_.stem == "vms" && !file_.folder.empty() ? file_.folder : file_.stem;
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (Status status = read_row(row); !status) return status.error();
    }
    remark();
    return std::move(list_);
  }

 private:
  Status read_row(std::size_t row) {
    if (cell(row, accelerator_).empty()) return {};  // a machine without accelerators
    const std::optional<double> count = parse_decimal(cell(row, count_));
    if (!count || !(*count > 0 && *count <= kMostDevices)) {
      return table_.error(row, count_, fmt::format("'{}' is no number of accelerators", cell(row, count_)));
    }
    if (*count != std::floor(*count)) {
      fractions_.push_back(std::to_string(line(row)));
      return {};
    }
    if (Status status = add(row, PriceKind::on_demand, price_, static_cast<int>(*count)); !status) return status;
    if (!spot_ || cell(row, spot_).empty()) return {};  // most machines are not sold so
    return add(row, PriceKind::spot, *spot_, static_cast<int>(*count));
  }

  Status add(std::size_t row, PriceKind kind, std::size_t column, int count) {
    const std::string_view text = cell(row, column);
    const std::optional<double> amount = text.empty() ? std::optional(0.0) : parse_decimal(text);
    if (!amount || std::isinf(*amount) || *amount < 0) {
      return table_.error(row, column, fmt::format("'{}' is no price; leave the cell empty if it is not sold", text));
    }
    if (std::isnan(*amount) || *amount == 0) {
      unsold_.push_back(std::to_string(line(row)));
      return {};
    }
    const std::string_view accelerator = cell(row, accelerator_);
    const std::string_view instance = cell(row, instance_);
    const std::optional<DeviceNames::Meant> meant = names_.find(accelerator, provider_, instance);
    if (!meant) ++unknown_[std::string(accelerator)];

    Price price = started(row);
    price.kind = kind;
    price.id = fmt::format("{}-{}{}", list_id(provider_), line(row), kind == PriceKind::spot ? "-spot" : "");
    price.item = instance.empty() ? std::string(accelerator) : fmt::format("{} ({})", accelerator, instance);
    price.provider = provider_;
    price.region = cell(row, region_);
    if (meant) price.device = meant->device;
    price.unit = "instance-hour";
    price.devices = count * (meant ? meant->devices : 1);
    if (instance.empty()) price.notes = "The accelerator alone: the host is priced apart.";
    set_amount(price, {*amount, *amount, "USD"});
    if (meant) {  // otherwise nobody knows what is counted
      const Status rent = set_rent(price, *parse_unit(price.unit));
      if (!rent) return table_.error(row, column, rent.error().message);
    }
    keep(std::move(price), count);
    return {};
  }

  /// The same offer stands once for every zone of a region; the cheapest is kept.
  void keep(Price price, int count) {
    const std::string key = fmt::format("{}|{}|{}|{}", price.item, count, price.region, name(price.kind));
    const auto [at, added] = offers_.emplace(key, list_.prices.size());
    if (added) {
      list_.prices.push_back(std::move(price));
    } else if (price.amount < list_.prices[at->second].amount) {
      list_.prices[at->second] = std::move(price);
    }
  }

  void remark() {
    const auto rows = [&](const std::vector<std::string>& lines, std::string_view why) {
      if (lines.empty()) return;
      list_.remarks.push_back(fmt::format("{}: {} {} {} left out ({} {})", table_.name(), lines.size(),
                                          lines.size() == 1 ? "price" : "prices", why,
                                          lines.size() == 1 ? "line" : "lines", enumerate(lines)));
    };
    rows(unsold_, "of what is not sold");
    rows(fractions_, "of fractions of a device");
    if (unknown_.empty()) return;
    std::vector<std::string> words;
    for (const auto& [name, times] : unknown_) words.push_back(name);
    list_.remarks.push_back(fmt::format("{}: no device of the catalogue is called {}; their prices are tied to none",
                                        table_.name(), enumerate(words)));
  }

  std::size_t instance_ = 0;
  std::size_t accelerator_ = 0;
  std::size_t count_ = 0;
  std::size_t price_ = 0;
  std::optional<std::size_t> region_;
  std::optional<std::size_t> spot_;
  std::string provider_;
  std::unordered_map<std::string, std::size_t> offers_;
  std::vector<std::string> unsold_;
  std::vector<std::string> fractions_;
  std::map<std::string, int> unknown_;
};

// ---- gpuhunt

/// One row is one instance type in one location, on demand or spot; the price is that of the whole instance for an
/// hour. Its names leave the memory to a column of its own.
class GpuhuntReader : public ListReader {
 public:
  using ListReader::ListReader;

  Result<PriceList> read() {
    for (const auto& [name, column] : {std::pair{"instance_name", &instance_},
                                       {"gpu_name", &accelerator_},
                                       {"gpu_count", &count_},
                                       {"price", &price_},
                                       {"spot", &spot_}}) {
      const Result<std::size_t> found = table_.required_column(name);
      if (!found) return found.error();
      *column = *found;
    }
    region_ = table_.column("location");
    memory_ = table_.column("gpu_memory");
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (Status status = read_row(row); !status) return status.error();
    }
    if (!unknown_.empty()) {
      std::vector<std::string> words;
      for (const auto& [name, times] : unknown_) words.push_back(name);
      list_.remarks.push_back(fmt::format("{}: no device of the catalogue is called {}; their prices are left out",
                                          table_.name(), enumerate(words)));
    }
    return std::move(list_);
  }

 private:
  Status read_row(std::size_t row) {
    const std::string accelerator(cell(row, accelerator_));
    const std::optional<double> count = cell(row, count_).empty() ? 0 : parse_decimal(cell(row, count_));
    if (!count || !(*count >= 0 && *count <= kMostDevices) || *count != std::floor(*count)) {
      return table_.error(row, count_, fmt::format("'{}' is no number of accelerators", cell(row, count_)));
    }
    if (accelerator.empty() || *count == 0) return {};
    const std::string_view spot = cell(row, spot_);
    if (spot != "True" && spot != "False" && spot != "true" && spot != "false") {
      return table_.error(row, spot_, fmt::format("'{}' is neither True nor False", spot));
    }
    const std::optional<double> amount = parse_decimal(cell(row, price_));
    if (!amount || !std::isfinite(*amount) || *amount < 0) {
      return table_.error(row, price_, fmt::format("'{}' is no price", cell(row, price_)));
    }
    if (*amount == 0) return {};
    const std::optional<DeviceNames::Meant> meant = find(row, accelerator);
    if (!meant) {
      ++unknown_[accelerator];
      return {};
    }
    Price price = started(row);
    price.kind = spot[0] == 'T' || spot[0] == 't' ? PriceKind::spot : PriceKind::on_demand;
    price.id = fmt::format("{}-{}", list_id(file_.stem), line(row));
    price.item = fmt::format("{} ({})", accelerator, cell(row, instance_));
    price.provider = file_.stem;
    price.region = cell(row, region_);
    price.device = meant->device;
    price.unit = "instance-hour";
    price.devices = static_cast<int>(*count) * meant->devices;
    set_amount(price, {*amount, *amount, "USD"});
    if (const Status rent = set_rent(price, *parse_unit(price.unit)); !rent) {
      return table_.error(row, price_, rent.error().message);
    }
    list_.prices.push_back(std::move(price));
    return {};
  }

  /// "A100" with 80 GB is an A100-80GB.
  [[nodiscard]] std::optional<DeviceNames::Meant> find(std::size_t row, const std::string& accelerator) const {
    const std::optional<double> memory = parse_decimal(cell(row, memory_));
    if (memory && *memory > 0 && *memory < 10'000) {
      const auto sized =
          names_.find(fmt::format("{}-{:.0f}GB", accelerator, *memory), file_.stem, cell(row, instance_));
      if (sized) return sized;
    }
    return names_.find(accelerator, file_.stem, cell(row, instance_));
  }

  std::size_t instance_ = 0;
  std::size_t accelerator_ = 0;
  std::size_t count_ = 0;
  std::size_t price_ = 0;
  std::size_t spot_ = 0;
  std::optional<std::size_t> region_;
  std::optional<std::size_t> memory_;
  std::map<std::string, int> unknown_;
};

// ---- our own columns

class PlainReader : public ListReader {
 public:
  using ListReader::ListReader;

  Result<PriceList> read() {
    for (std::size_t column = 0; column < table_.columns(); ++column) {
      const std::string_view header = table_.header(column);
      if (std::find(std::begin(kColumns), std::end(kColumns), header) != std::end(kColumns)) continue;
      const std::string near = nearest(header, std::data(kColumns), std::size(kColumns), 1);
      return Error{ErrorCode::bad_input, fmt::format("{}:1", table_.name()),
                   near.empty() ? fmt::format("unknown column '{}'; use {}", header, fmt::join(kColumns, ", "))
                                : fmt::format("unknown column '{}'; did you mean {}?", header, near)};
    }
    for (const std::string_view name : {"item", "kind", "unit", "price", "currency", "date"}) {
      const Result<std::size_t> found = table_.required_column(name);
      if (found) continue;
      return Error{found.error().code, found.error().where,
                   found.error().message +
                       "; a list looks like item,kind,provider,unit,price,currency,date,device with "
                       "\"H200\",on_demand,Our broker,chip-hour,2.35,USD,2026-10,h200-sxm below"};
    }
    for (std::size_t row = 0; row < table_.rows(); ++row) {
      if (Status status = read_row(row); !status) return status.error();
    }
    return std::move(list_);
  }

 private:
  static constexpr std::string_view kColumns[] = {"item", "kind",   "provider", "unit",   "price",   "currency",
                                                  "date", "region", "device",   "source", "devices", "notes"};

  [[nodiscard]] std::string_view text(std::size_t row, std::string_view column) const {
    return cell(row, table_.column(column));
  }
  [[nodiscard]] Error error(std::size_t row, std::string_view column, std::string message) const {
    const std::optional<std::size_t> at = table_.column(column);
    return table_.error(row, at.value_or(0), std::move(message));
  }

  Status read_row(std::size_t row) {
    Price price = started(row);
    price.id = fmt::format("{}-{}", list_id(file_.stem), line(row));
    price.item = text(row, "item");
    if (price.item.empty()) return error(row, "item", "what is priced here? Name it");
    const auto kind = std::find(std::begin(kPriceKinds), std::end(kPriceKinds), text(row, "kind"));
    if (kind == std::end(kPriceKinds)) {
      return error(row, "kind",
                   fmt::format("'{}' is no kind; use {}", text(row, "kind"), fmt::join(kPriceKinds, ", ")));
    }
    price.kind = static_cast<PriceKind>(kind - std::begin(kPriceKinds));
    price.provider = text(row, "provider");
    price.region = text(row, "region");
    price.date = text(row, "date");
    if (!is_valid_date(price.date)) {
      return error(row, "date", fmt::format("'{}' is no date: write 2026-08-31, 2026-08 or 2026", price.date));
    }
    price.notes = text(row, "notes");
    if (const std::string_view origin = text(row, "source"); !origin.empty()) {
      price.notes += fmt::format("{}Source: {}", price.notes.empty() ? "" : " ", origin);
    }
    if (const std::string_view device = text(row, "device"); !device.empty()) {
      const std::optional<DeviceNames::Meant> meant = names_.find(device, price.provider, "");
      if (!meant) {
        const std::string near = names_.nearest_ids(device);
        return error(row, "device",
                     fmt::format("there is no device '{}'{}", device,
                                 near.empty() ? "" : fmt::format("; did you mean {}?", near)));
      }
      price.device = meant->device;
    }
    return read_terms(row, std::move(price));
  }

  Status read_terms(std::size_t row, Price price) {
    price.unit = text(row, "unit");
    const Result<PriceUnit> unit = parse_unit(price.unit);
    if (!unit) return error(row, "unit", unit.error().message);
    double stated = 0;
    if (const std::string_view devices = text(row, "devices"); !devices.empty()) {
      stated = parse_decimal(devices).value_or(-1);
      if (!(stated >= 1 && stated <= kMostDevices && stated == std::floor(stated))) {
        return error(row, "devices", fmt::format("'{}' is no number of devices", devices));
      }
    }
    const Result<int> devices = devices_of_unit(*unit, price.unit, static_cast<int>(stated));
    if (!devices) return error(row, "devices", devices.error().message);
    price.devices = *devices;
    const Result<Amount> amount = parse_amount(fmt::format("{} {}", text(row, "price"), text(row, "currency")));
    if (!amount) return error(row, "price", amount.error().message);
    set_amount(price, *amount);
    if (Status rent = set_rent(price, *unit); !rent) return error(row, "price", rent.error().message);
    list_.prices.push_back(std::move(price));
    return {};
  }
};

}  // namespace

Result<PriceList> read_price_list(std::string csv, const std::string& file, SourceId source,
                                  std::span<const Device> devices, std::span<const PriceAlias> aliases) {
  const Result<CsvTable> table = CsvTable::parse(std::move(csv), file);
  if (!table) return table.error();
  const DeviceNames names(devices, aliases);
  if (table->column("AcceleratorName")) return SkyPilotReader(*table, source, names).read();
  if (table->column("gpu_name")) return GpuhuntReader(*table, source, names).read();
  if (table->column("price")) return PlainReader(*table, source, names).read();
  return Error{
      ErrorCode::bad_input, fmt::format("{}:1", file),
      "no price list: the first line has to name the columns, ours (item,kind,provider,unit,price,currency,date"
      ",region,device,source), SkyPilot's (InstanceType,AcceleratorName,AcceleratorCount,...,Price) or gpuhunt's "
      "(instance_name,...,gpu_name,...)"};
}

}  // namespace ridge
