// ridge show: what the catalogue holds, as a listing or as a page for one entry.
#include <algorithm>
#include <array>

#include "app/cli/line/options.hpp"
#include "app/cli/line/value.hpp"
#include "app/cli/session/session.hpp"
#include "app/cli/show/filter.hpp"
#include "app/cli/show/kinds.hpp"
#include "app/cli/show/print.hpp"
#include "app/cli/verbs.hpp"
#include "ridge/base/letters.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/names.hpp"

namespace ridge::cli {

namespace {

constexpr std::string_view kShowSchema = "ridge.show/1";

struct ShowArguments {
  std::vector<std::string> words;
  std::vector<std::string> where;
  std::string vendor, architecture, device, provider, kind;
  std::string sort;
  std::string columns;
  int limit = 0;
  bool ids = false;
  bool keys = false;
  bool missing = false;
  bool rents = false;

  struct Condition {
    std::string option;  ///< where it comes from, for errors
    std::string text;
  };

  /// The shortcuts as conditions, and then --where.
  [[nodiscard]] std::vector<Condition> conditions() const {
    std::vector<Condition> all;
    const auto add = [&](std::string key, const std::string& value) {
      if (!value.empty()) all.push_back({"--" + key, key + "=" + value});
    };
    add("vendor", vendor);
    add("architecture", architecture);
    add("device", device);
    add("provider", provider);
    add("kind", kind);
    for (const std::string& condition : where) all.push_back({"--where", condition});
    return all;
  }
  [[nodiscard]] bool chooses() const { return !conditions().empty() || !sort.empty() || !columns.empty() || limit > 0; }
};

Json answer() {
  return Json::object().set("schema", kShowSchema);
}

/// How many prices are too old to be trusted, as one warning line.
std::optional<std::string> staleness(const Sheet& sheet, std::string_view as_of) {
  const auto stale = sheet.find_field("stale");
  if (sheet.plural != "prices" || !stale) return {};
  const auto count = std::count_if(sheet.rows.begin(), sheet.rows.end(),
                                   [&](const Row& row) { return row.values[*stale].cell.mid() != 0; });
  if (count == 0) return {};
  const std::string old = sheet.rows.size() == 1 ? "This price is"
                                                 : std::to_string(count) + " of " + std::to_string(sheet.rows.size()) +
                                                       (count == 1 ? " prices is" : " prices are");
  return old + " older than six months as of " + std::string(as_of) + " (date marked !).";
}

class Show {
 public:
  Show(const ShowArguments& arguments, Session& session, const SheetContext& context)
      : arguments_(arguments), session_(session), context_(context) {}

  Result<int> run() {
    if (arguments_.missing) return missing();
    if (arguments_.rents) return rents();
    if (arguments_.ids) return print_ids();
    if (arguments_.words.empty()) return overview();
    const Kind* kind = find_kind(arguments_.words[0]);
    if (kind == nullptr) return entries(arguments_.words, kinds());
    if (arguments_.words.size() == 1) return list(kind->sheet(context_));
    const std::vector<std::string> ids(arguments_.words.begin() + 1, arguments_.words.end());
    return entries(ids, {kind, 1});
  }

 private:
  Result<int> print_ids() {
    for (const Kind& kind : kinds()) {
      if (!arguments_.words.empty() && find_kind(arguments_.words[0]) != &kind) continue;
      Sheet sheet = kind.sheet(context_);
      if (Status status = choose_rows(sheet); !status) return status.error();
      for (const Row& row : sheet.rows) session_.print(row.id + "\n");
    }
    return kFine;
  }

  Result<int> missing() {
    if (!arguments_.words.empty() || arguments_.chooses()) {
      return Error{ErrorCode::bad_input, "--missing", "stands alone: it looks through all devices that are on sale"};
    }
    const Table table = missing_table(context_.catalogue);
    if (session_.form() == Form::json) return print(answer().set("missing", to_json(table)).text());
    return print_table(table,
                       "A figure with its source is one line in data/devices, a price one entry in data/prices "
                       "(docs/data-format.md): both are welcome.");
  }

  Result<int> rents() {
    ShowArguments rest = arguments_;
    rest.device.clear();
    if (!rest.words.empty() || rest.chooses()) {
      return Error{ErrorCode::bad_input, "--rents",
                   "takes --device alone: it looks through all devices that are on sale"};
    }
    const Result<const search::Policy*> policy = session_.policy();
    if (!policy) return policy.error();
    const Result<const EconomicsData*> economics = session_.economics();
    if (!economics) return economics.error();
    const Table table = rents_table(context_.catalogue, **policy, **economics, context_.as_of, arguments_.device);
    if (session_.form() == Form::json) return print(answer().set("rents", to_json(table)).text());
    return print_table(table,
                       "One quote a provider, its newest, none older than a year before the newest of all; "
                       "`ridge show prices --device ID` lists them with their sources.");
  }

  Result<int> overview() {
    if (arguments_.chooses() || arguments_.keys) {
      return Error{ErrorCode::bad_input, "", "say what to show, for example `ridge show devices`"};
    }
    Document page;
    page.title = "What the catalogue holds";
    Table table;
    table.columns = {{.key = "kind", .heading = "kind"},
                     {.key = "entries", .heading = "entries", .kind = ColumnKind::number},
                     {.key = "command", .heading = "list them by"}};
    for (const Kind& kind : kinds()) {
      table.rows.push_back({Cell(kind.plural), Cell(static_cast<int>(kind.sheet(context_).rows.size())),
                            Cell("ridge show " + std::string(kind.plural))});
    }
    if (session_.form() == Form::csv) return print(to_csv(table));
    if (session_.form() == Form::json) {
      Json counts = Json::object();
      for (const auto& row : table.rows) counts.set(row[0].plain(), row[1].json());
      return print(answer().set("counts", std::move(counts)).text());
    }
    page.blocks.push_back(std::move(table));
    page.blocks.push_back(Paragraph{"`ridge show ID` explains one entry, with the source of each figure."});
    session_.print(page);
    return kFine;
  }

  Result<int> list(Sheet sheet) {
    if (arguments_.keys) {
      if (arguments_.chooses()) return Error{ErrorCode::bad_input, "--keys", "stands alone: leave out what chooses"};
      const Table keys = keys_table(sheet);
      if (session_.form() == Form::json) return print(answer().set("keys", to_json(keys)).text());
      return print_table(keys, {});
    }
    const std::size_t all = sheet.rows.size();
    if (Status status = choose_rows(sheet); !status) return status.error();
    if (session_.form() == Form::json) {
      Json json = answer();
      add_objects(json, sheet);
      return print(json.text());
    }
    Result<std::vector<std::size_t>> fields = fields_of(sheet);
    if (!fields) return fields.error();
    std::string count = std::to_string(sheet.rows.size());
    if (sheet.rows.size() != all) count += " of " + std::to_string(all);
    return print_table(listing(sheet, *fields), {count + " " + std::string(sheet.plural)},
                       staleness(sheet, context_.as_of));
  }

  /// The entries of these ids among the kinds, wherever they are found.
  Result<int> entries(const std::vector<std::string>& ids, std::span<const Kind> kinds) {
    std::vector<Sheet> sheets;
    for (const Kind& kind : kinds) sheets.push_back(kind.sheet(context_));
    std::vector<std::vector<Row>> found(sheets.size());
    for (const std::string& name : ids) {
      const std::string id = id_of(name, sheets);
      bool any = false;
      for (std::size_t s = 0; s < sheets.size(); ++s) {
        const auto at =
            std::find_if(sheets[s].rows.begin(), sheets[s].rows.end(), [&](const Row& row) { return row.id == id; });
        if (at == sheets[s].rows.end()) continue;
        found[s].push_back(*at);
        any = true;
      }
      if (any) continue;
      const Result<int> elsewhere = from_outside(id, sheets, ids.size());
      if (elsewhere || elsewhere.error().code != ErrorCode::not_found) return elsewhere;
      return not_found(id, sheets, elsewhere.error());
    }
    for (std::size_t s = 0; s < sheets.size(); ++s) sheets[s].rows = std::move(found[s]);
    std::erase_if(sheets, [](const Sheet& sheet) { return sheet.rows.empty(); });
    return present(sheets, ids.size());
  }

  /// The id of the device or model that people call so; the name itself if it is an id, or none is called so.
  [[nodiscard]] std::string id_of(const std::string& name, const std::vector<Sheet>& sheets) const {
    bool devices = false;
    bool models = false;
    for (const Sheet& sheet : sheets) {
      if (std::any_of(sheet.rows.begin(), sheet.rows.end(), [&](const Row& row) { return row.id == name; }))
        return name;
      devices = devices || sheet.plural == "devices";
      models = models || sheet.plural == "models";
    }
    if (name.find_first_of("/:") != std::string::npos) return name;  // made on the spot
    if (devices) {
      if (const auto device = device_named(context_.catalogue, name)) return (*device)->id;
    }
    if (models) {
      if (const auto model = model_named(context_.catalogue, name)) return (*model)->id;
    }
    return name;
  }

  /// A share of a device, an inline model or a config.json: entries that are made on the spot.
  Result<int> from_outside(const std::string& id, const std::vector<Sheet>& sheets, std::size_t asked) {
    const auto among = [&](std::string_view plural) {
      return std::any_of(sheets.begin(), sheets.end(), [&](const Sheet& sheet) { return sheet.plural == plural; });
    };
    const std::string_view device_id = std::string_view(id).substr(0, id.find('/'));
    const bool a_share = id.find('/') != std::string::npos && context_.catalogue.device(device_id) != nullptr;
    const bool a_model = !a_share && id.find_first_of("/:.") != std::string::npos;
    if ((!a_share || !among("devices")) && (!a_model || !among("models"))) {
      return Error{ErrorCode::not_found, "", ""};
    }
    if (asked > 1) {
      return Error{ErrorCode::bad_input, "", quoted(id) + " is no entry of the catalogue: show it on its own"};
    }
    std::vector<Sheet> made;
    if (a_share) {
      Result<Device> device = context_.catalogue.find_device(id);
      if (!device) return device.error();
      devices_ = {std::move(*device)};
      made.push_back(device_sheet(devices_, context_));
    } else {
      // Who may not name files gets a model of the catalogue by any of its names, never a file of that name.
      const bool written_out = id.starts_with("dense:") || id.starts_with("moe:");
      Result<Model> model = Error{};
      if (session_.may_name_files() || written_out) {
        model = context_.catalogue.find_model(id);
      } else if (const Result<const Model*> known = model_named(context_.catalogue, id)) {
        model = **known;
      } else {
        return known.error();
      }
      if (!model) return model.error();
      if (model->id.empty()) model->id = id;
      models_ = {std::move(*model)};
      made.push_back(model_sheet(models_, context_));
    }
    return present(made, 1);
  }

  static Error not_found(const std::string& id, const std::vector<Sheet>& sheets, const Error& why) {
    if (!why.message.empty()) return why;
    std::vector<std::string_view> candidates;
    for (const Kind& kind : kinds()) {
      if (sheets.size() > 1) candidates.push_back(kind.plural);
    }
    for (const Sheet& sheet : sheets) {
      for (const Row& row : sheet.rows) candidates.push_back(row.id);
    }
    const std::string what = sheets.size() == 1 ? std::string(sheets[0].singular) : "entry";
    const std::string near = nearest(id, candidates.data(), candidates.size());
    const std::string hint = near.empty() ? "; `ridge show` says what there is" : "; did you mean " + near + "?";
    return {ErrorCode::not_found, "", "there is no " + what + " " + quoted(id) + hint};
  }

  /// Pages for one entry, a listing for several of one kind.
  Result<int> present(std::vector<Sheet>& sheets, std::size_t asked) {
    if (arguments_.chooses() && asked == 1) {
      return Error{ErrorCode::bad_input, "",
                   "filters and columns are for listings, as in `ridge show devices --limit 3`"};
    }
    if (session_.form() == Form::json) {
      Json json = answer();
      for (Sheet& sheet : sheets) {
        if (Status status = choose_rows(sheet); !status) return status.error();
        add_objects(json, sheet);
      }
      return print(json.text());
    }
    bool first = true;
    for (Sheet& sheet : sheets) {
      if (!first) session_.print("\n");
      first = false;
      const bool as_table = asked > 1 || session_.form() == Form::csv;
      if (as_table) {
        if (Result<int> listed = list(std::move(sheet)); !listed) return listed;
        continue;
      }
      Document page = explain(sheet, sheet.rows.front(), context_.catalogue);
      if (auto warning = staleness(sheet, context_.as_of))
        page.blocks.push_back(Paragraph{*warning, Emphasis::warning});
      session_.print(page);
    }
    return kFine;
  }

  Status choose_rows(Sheet& sheet) const {
    for (const ShowArguments::Condition& condition : arguments_.conditions()) {
      const Status status = keep_where(sheet, condition.text);
      if (!status) return Error{status.error().code, condition.option, status.error().message};
    }
    if (!arguments_.sort.empty()) {
      const Status status = sort_rows(sheet, arguments_.sort);
      if (!status) return Error{status.error().code, "--sort", status.error().message};
    }
    const auto limit = static_cast<std::size_t>(arguments_.limit);
    if (limit > 0 && sheet.rows.size() > limit) sheet.rows.resize(limit);
    if (session_.form() == Form::json && !arguments_.columns.empty()) {
      return Error{ErrorCode::bad_input, "--columns",
                   "chooses what tables show; --json holds every field: leave it out"};
    }
    return {};
  }

  /// People get the usual fields, programs all of them.
  Result<std::vector<std::size_t>> fields_of(const Sheet& sheet) const {
    if (!arguments_.columns.empty()) {
      const auto chosen = choose_fields(sheet, arguments_.columns);
      if (!chosen) return Error{chosen.error().code, "--columns", chosen.error().message};
      return *chosen;
    }
    if (session_.form() != Form::csv) {
      std::vector<std::size_t> listed = listed_fields(sheet);
      // The id of a price is long and says least: last, so that a narrow terminal leaves it out and not the price.
      if (sheet.plural == "prices" && !listed.empty()) std::rotate(listed.begin(), listed.begin() + 1, listed.end());
      return listed;
    }
    std::vector<std::size_t> all(sheet.fields.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  void add_objects(Json& json, const Sheet& sheet) const {
    if (sheet.plural == "prices") json.set("as_of", context_.as_of.empty() ? Json() : Json(context_.as_of));
    json.set(sheet.plural, objects(sheet, context_.catalogue));
  }

  Result<int> print_table(Table table, const std::optional<std::string>& footer,
                          const std::optional<std::string>& warning = {}) {
    if (session_.form() == Form::csv) {
      if (warning) session_.warn(*warning);
      return print(to_csv(table));
    }
    Document page;
    page.blocks.push_back(std::move(table));
    if (footer) page.blocks.push_back(Paragraph{*footer, Emphasis::faint});
    if (warning) page.blocks.push_back(Paragraph{*warning, Emphasis::warning});
    session_.print(page);
    return kFine;
  }

  Result<int> print(const std::string& text) {
    session_.print(text);
    return kFine;
  }

  const ShowArguments& arguments_;
  Session& session_;
  const SheetContext& context_;
  std::vector<Device> devices_;  // made on the spot; sheets refer to them
  std::vector<Model> models_;
};

/// A value that some entry of some kind has there, in any case of letters.
Takes in_column(std::string_view key) {
  const auto known = [key](Session& session, const std::vector<std::string>&) {
    std::vector<std::string> all;
    const Result<SheetContext> context = sheet_context(session);
    if (!context) return all;
    for (const Kind& kind : kinds()) {
      const Sheet sheet = kind.sheet(*context);
      const auto field = sheet.find_field(key);
      if (!field) continue;
      for (const Row& row : sheet.rows) {
        if (!row.values[*field].cell.empty()) all.push_back(row.values[*field].cell.plain());
      }
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
  };
  return {[known, key](Session& session, const std::string& text) -> Status {
            const std::vector<std::string> all = known(session, {});
            const auto same = [&](const std::string& one) { return lower(one) == lower(text); };
            if (std::any_of(all.begin(), all.end(), same)) return {};
            return value::one_of([&all](Session&, const std::vector<std::string>&) { return all; }, std::string(key))
                .check(session, text);
          },
          complete_values(key)};
}

/// A device by any of its names; where none has such an entry, the column says what is near.
Takes device_in_column() {
  Takes takes = in_column("device");
  takes.check = [in_column = takes.check](Session& session, const std::string& text) -> Status {
    const Result<SheetContext> context = sheet_context(session);
    if (context && device_named(context->catalogue, text)) return {};
    return in_column(session, text);
  };
  return takes;
}

/// The listing refuses what its kind has not.
Takes keys_of_kind() {
  Takes keys = value::line();
  keys.completer = complete_keys;
  return keys;
}

}  // namespace

static Action declare_show(Options& options) {
  auto arguments = std::make_shared<ShowArguments>();
  options.words(
      "[KIND] [ID ...]", arguments->words,
      "devices, systems, fabrics, models, prices, architectures, os or sources; the id of an entry, a share of a "
      "device (h100-sxm/mig-3g.40gb), a config.json, or an inline model (dense:layers=32,...)",
      complete_entries);
  options.list("--where", "CONDITION", arguments->where, "only entries for which it holds: memory>=80GB, name~nvl",
               value::line());
  options.text("--vendor", "NAME", arguments->vendor, "only devices or architectures of this vendor",
               in_column("vendor"));
  options.text("--architecture", "ID", arguments->architecture, "only devices of this design",
               in_column("architecture"));
  options.text("--device", "ID", arguments->device, "only prices or systems of this device", device_in_column());
  options.text("--provider", "NAME", arguments->provider, "only prices of this provider", in_column("provider"));
  options.text("--kind", "KIND", arguments->kind, "only entries of this kind: on_demand, rack, infiniband",
               in_column("kind"));
  options.text("--sort", "KEY", arguments->sort, "order by a key, -KEY for largest first", keys_of_kind());
  options.text("--columns", "KEY,...", arguments->columns, "the columns of the table", keys_of_kind());
  options.count("--limit", "N", arguments->limit, "list at most N entries");
  options.flag("--keys", arguments->keys, "list the keys that --where, --sort and --columns know");
  options.flag("--missing", arguments->missing, "which devices on sale lack which figures and prices");
  options.flag("--rents", arguments->rents, "cheapest, median and dearest rent of devices on sale, by kind of seller");
  options.flag("--ids", arguments->ids, "only the ids, one on a line", true);
  return [arguments](Session& session) -> Result<int> {
    const Result<SheetContext> context = sheet_context(session);
    if (!context) return context.error();
    if (const auto device = device_named(context->catalogue, arguments->device); !arguments->device.empty() && device) {
      arguments->device = (*device)->id;
    }
    return Show(*arguments, session, *context).run();
  };
}

Verb show_verb() {
  return {"show", "the catalogue: devices, systems, fabrics, models, prices, sources",
          "A kind alone is listed; with an ID the entry is explained, every figure with its source. Numbers in "
          "conditions "
          "carry their unit: memory>=80GB, memory_bandwidth>3TB/s, parameters<=70B.",
          "ridge show h200-sxm\n"
          "ridge show devices --vendor NVIDIA --where 'memory_bandwidth>=3TB/s' --sort -memory\n"
          "ridge show models --where 'parameters<=10B' --columns id,layers,hidden,weights.fp8\n"
          "ridge show prices --device h100-sxm --kind on_demand --sort price\n"
          "ridge show systems --json\n"
          "ridge show --missing",
          declare_show};
}

}  // namespace ridge::cli
