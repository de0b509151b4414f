#include "mlperf/records.hpp"

#include <fmt/format.h>

#include <cmath>

#include "catalogue/files/json_document.hpp"
#include "mlperf/columns.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/text.hpp"

namespace ridge::mlperf {

namespace {

constexpr std::size_t kMostRecords = 200'000;

std::string text_of(const JsonNode& node) {
  switch (node.kind) {
    case JsonNode::Kind::flag:
      return node.flag ? "true" : "false";
    case JsonNode::Kind::integer:
      return fmt::format("{}", node.integer);
    case JsonNode::Kind::number:
      return fmt::format("{}", node.number);
    case JsonNode::Kind::text:
      return node.text;
    default:
      return "";
  }
}

Record record_of(const JsonNode& node, const std::string& where) {
  std::vector<Record::Field> fields;
  for (const JsonMember& member : node.members) {
    if (member.value.kind == JsonNode::Kind::null) continue;
    fields.push_back({member.key, text_of(member.value), where + "/" + member.key});
  }
  return {where, std::move(fields)};
}

Status add_list(const JsonNode& list, const std::string& where, std::vector<Record>& records) {
  for (std::size_t i = 0; i < list.items.size(); ++i) {
    const std::string place = fmt::format("{}/{}", where, i);
    if (list.items[i].kind != JsonNode::Kind::object) {
      return Error{ErrorCode::bad_input, place, "a record (an object with named fields) belongs here"};
    }
    if (records.size() == kMostRecords) return Error{ErrorCode::bad_input, place, "there are too many records"};
    records.push_back(record_of(list.items[i], place));
  }
  return {};
}

Result<std::vector<Record>> json_records(const std::string& text, const std::string& path) {
  const Result<JsonNode> root = parse_json(text, path);
  if (!root) return root.error();
  std::vector<Record> records;
  if (root->kind == JsonNode::Kind::array) {
    if (const Status s = add_list(*root, path + "#", records); !s) return s.error();
  } else if (root->kind == JsonNode::Kind::object) {
    for (const JsonMember& member : root->members) {
      const std::string place = path + "#/" + member.key;
      if (member.value.kind == JsonNode::Kind::array) {
        if (const Status s = add_list(member.value, place, records); !s) return s.error();
      } else if (member.value.kind == JsonNode::Kind::object) {
        records.push_back(record_of(member.value, place));
      } else {
        return Error{ErrorCode::bad_input, place,
                     "this is no file of results: a record or a list of records belongs here"};
      }
    }
  } else {
    return Error{ErrorCode::bad_input, path + ":1:1", "this is no file of results: it holds a single value"};
  }
  return records;
}

Result<std::vector<Record>> csv_records(const std::string& text, const std::string& path) {
  const Result<CsvTable> table = CsvTable::parse(text, path);
  if (!table) return table.error();
  std::vector<Record> records;
  for (std::size_t row = 0; row < table->rows(); ++row) {
    std::vector<Record::Field> fields;
    for (std::size_t column = 0; column < table->columns(); ++column) {
      const std::string_view cell = table->cell(row, column);
      if (!cell.empty()) {
        fields.push_back({std::string(table->header(column)), std::string(cell), table->where(row, column)});
      }
    }
    records.emplace_back(fmt::format("{}:{}:1", path, table->line(row, 0)), std::move(fields));
  }
  return records;
}

}  // namespace

const Record::Field* Record::find(Names names) const {
  for (const std::string_view name : names) {
    for (const Field& field : fields_) {
      if (field.key == name) return &field;
    }
  }
  return nullptr;
}

std::string Record::optional_text(Names names) const {
  const Field* const field = find(names);
  return field == nullptr ? "" : field->value;
}

void Record::refuse(Names names, std::string message) {
  if (error_) return;
  const Field* const field = find(names);
  error_ = Error{ErrorCode::bad_input, field == nullptr ? where_ : field->where, std::move(message)};
}

void Record::missing(Names names) {
  std::vector<std::string_view> keys;
  for (const Field& field : fields_) keys.push_back(field.key);
  const std::string near = nearest(*names.begin(), keys.data(), keys.size(), 1);
  refuse(names,
         fmt::format("the field {} is missing{}", quoted(*names.begin()), near.empty() ? "" : "; there is " + near));
}

std::string Record::text(Names names) {
  const Field* const field = find(names);
  if (field == nullptr || field->value.empty()) {
    missing(names);
    return "";
  }
  return field->value;
}

std::optional<double> Record::optional_number(Names names, double low, double high) {
  const Field* const field = find(names);
  if (field == nullptr || field->value.empty()) return std::nullopt;
  const auto value = number_of(field->value);
  if (!value) {
    refuse(names, quoted(field->value) + " is not a number");
    return std::nullopt;
  }
  if (*value < low || *value > high) {
    refuse(names, fmt::format("{} is outside {:g} to {:g}", quoted(field->value), low, high));
    return std::nullopt;
  }
  return value;
}

double Record::number(Names names, double low, double high) {
  const auto value = optional_number(names, low, high);
  if (!value) missing(names);
  return value.value_or(low);
}

int Record::whole(Names names, int low, int high, std::optional<int> otherwise) {
  const auto value = optional_number(names, low, high);
  if (!value && otherwise) return *otherwise;
  if (!value) missing(names);
  const double number = value.value_or(low);
  if (number != std::floor(number)) refuse(names, "a whole number belongs here");
  return static_cast<int>(number);
}

Result<std::vector<Record>> read_records(const std::string& text, const std::string& path) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return Error{ErrorCode::bad_input, path + ":1:1", "the file is empty"};
  const bool json = text[first] == '[' || text[first] == '{';
  Result<std::vector<Record>> records = json ? json_records(text, path) : csv_records(text, path);
  if (records && records->empty()) return Error{ErrorCode::bad_input, path, "there is no result in this file"};
  return records;
}

}  // namespace ridge::mlperf
