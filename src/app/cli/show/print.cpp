#include "app/cli/show/print.hpp"

#include <algorithm>

#include "app/cli/show/fields.hpp"

namespace ridge::cli {

std::string Field::name() const {
  std::string name(key.substr(0, key.find('.')));
  if (!unit.empty()) name += "_" + std::string(unit);
  if (const auto dot = key.find('.'); dot != std::string_view::npos) name += key.substr(dot);
  return name;
}

std::string References::mark(SourceId source) {
  auto at = std::find_if(sources_.begin(), sources_.end(), [&](SourceId s) { return s.index == source.index; });
  if (at == sources_.end()) at = sources_.insert(at, source);
  return "[" + std::to_string(at - sources_.begin() + 1) + "]";
}

std::optional<std::size_t> Sheet::find_field(std::string_view wanted) const {
  std::optional<std::size_t> by_end;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields[i].key == wanted || fields[i].name() == wanted) return i;
    const auto dot = fields[i].key.find('.');
    // A device has a peak and a ridge point in bf16; the one that stands first is what "bf16" means to people.
    if (!by_end && dot != std::string_view::npos && fields[i].key.substr(dot + 1) == wanted) by_end = i;
  }
  return by_end;
}

Table listing(const Sheet& sheet, const std::vector<std::size_t>& fields) {
  Table table;
  for (const std::size_t f : fields) {
    const Field& field = sheet.fields[f];
    table.columns.push_back(
        {.key = field.name(),
         .heading = std::string(field.heading),
         .kind = field.kind,
         .overflow = field.kind == ColumnKind::text && field.key != "id" ? Overflow::truncate : Overflow::keep});
  }
  for (const Row& row : sheet.rows) {
    auto& cells = table.rows.emplace_back();
    for (const std::size_t f : fields) cells.push_back(row.values[f].cell);
  }
  return table;
}

Json objects(const Sheet& sheet, const Catalogue& catalogue) {
  Json list = Json::array();
  for (const Row& row : sheet.rows) {
    Json object = Json::object();
    Json sources = Json::object();
    bool sourced = false;
    for (std::size_t i = 0; i < sheet.fields.size(); ++i) {
      const std::string name = sheet.fields[i].name();
      const Value& value = row.values[i];
      if (const auto dot = name.find('.'); dot != std::string::npos) {
        Json& group = object.at(name.substr(0, dot));
        if (group.empty()) group = Json::object();
        group.set(name.substr(dot + 1), value.cell.json());
      } else {
        object.set(name, value.cell.json());
      }
      if (value.source) {
        sources.set(name, catalogue.source(*value.source).id);
        sourced = true;
      }
    }
    sheet.add_json(row.entry, object);
    if (sourced) object.set("figure_sources", std::move(sources));
    list.push(std::move(object));
  }
  return list;
}

namespace {

const Cell* cell_of(const Sheet& sheet, const Row& row, std::string_view key) {
  for (std::size_t i = 0; i < sheet.fields.size(); ++i) {
    if (sheet.fields[i].key == key) return row.values[i].cell.empty() ? nullptr : &row.values[i].cell;
  }
  return nullptr;
}

Table section_table(std::string_view title) {
  Table table;
  table.title = title;
  table.headings = false;
  table.columns = {{.key = "label", .heading = "what"},
                   {.key = "value", .heading = "value", .overflow = Overflow::wrap},
                   {.key = "source", .heading = "source"}};
  return table;
}

void add_sections(Document& page, const Sheet& sheet, const Row& row, References& references) {
  std::string unknown;
  std::string_view open;
  for (std::size_t i = 0; i < sheet.fields.size(); ++i) {
    const Field& field = sheet.fields[i];
    const Value& value = row.values[i];
    if (field.section.empty()) continue;
    if (value.cell.empty()) {
      if (field.kind == ColumnKind::number && !field.quiet) {
        unknown += (unknown.empty() ? "" : "; ") + std::string(field.label);
      }
      continue;
    }
    if (field.section != open) {
      page.blocks.push_back(section_table(field.section));
      open = field.section;
    }
    const Cell source = value.source ? Cell(references.mark(*value.source)) : Cell("");
    std::get<Table>(page.blocks.back())
        .rows.push_back(
            {Cell(field.label), Cell(value.cell.text()).with(value.cell.emphasis()), source.with(Emphasis::faint)});
  }
  if (!unknown.empty()) {
    page.blocks.push_back(Paragraph{"Not known, or not there: " + unknown + ".", Emphasis::faint});
  }
}

void add_sources(Document& page, const References& references, const Catalogue& catalogue) {
  if (references.sources().empty()) return;
  Table table;
  table.title = "Sources";
  table.headings = false;
  table.columns = {{.key = "mark", .heading = "mark"},
                   {.key = "source", .heading = "source", .overflow = Overflow::wrap}};
  for (std::size_t i = 0; i < references.sources().size(); ++i) {
    const Source& source = catalogue.source(references.sources()[i]);
    std::string text = source.title + ". " + source.where;
    if (!source.date.empty()) text += ", " + source.date;
    table.rows.push_back({Cell("[" + std::to_string(i + 1) + "]"), Cell(text + " (" + source.id + ")")});
  }
  page.blocks.push_back(std::move(table));
}

}  // namespace

Document explain(const Sheet& sheet, const Row& row, const Catalogue& catalogue) {
  Document page;
  const Cell* name = cell_of(sheet, row, "name");
  page.title = name != nullptr && name->text() != row.id ? name->text() + " (" + row.id + ")" : row.id;
  std::string kind(sheet.singular);
  if (const Cell* place = cell_of(sheet, row, "place")) kind += " · " + place->text();
  page.blocks.push_back(Paragraph{kind, Emphasis::faint});
  if (const Cell* title = cell_of(sheet, row, "title")) page.blocks.push_back(Paragraph{title->text()});
  References references;
  add_sections(page, sheet, row, references);
  sheet.add_blocks(row.entry, page, references);
  if (const Cell* notes = cell_of(sheet, row, "notes")) page.blocks.push_back(Paragraph{notes->text()});
  add_sources(page, references, catalogue);
  return page;
}

Table keys_table(const Sheet& sheet) {
  Table table;
  table.columns = {{.key = "key", .heading = "key"},
                   {.key = "name", .heading = "in JSON and CSV"},
                   {.key = "meaning", .heading = "meaning", .overflow = Overflow::truncate}};
  for (const Field& field : sheet.fields) {
    const std::string section = field.section.empty() ? "" : std::string(field.section) + ": ";
    table.rows.push_back({Cell(field.key), Cell(field.name()), Cell(section + std::string(field.label))});
  }
  return table;
}

std::string place_text(const Place& place, const SheetContext& context) {
  if (place.file.empty()) return {};
  std::string_view file = place.file;
  const std::string_view base = context.data_directory;
  if (!base.empty() && file.starts_with(base)) {
    file.remove_prefix(base.size());
    while (file.starts_with('/')) file.remove_prefix(1);
  }
  return place.line == 0 ? std::string(file) : std::string(file) + ":" + std::to_string(place.line);
}

void add_list(Document& page, std::string_view heading, const std::vector<std::string>& names) {
  if (names.empty()) return;
  std::string text = std::string(heading) + ": ";
  for (std::size_t i = 0; i < names.size(); ++i) text += (i > 0 ? ", " : "") + names[i];
  page.blocks.push_back(Paragraph{text + "."});
}

}  // namespace ridge::cli
