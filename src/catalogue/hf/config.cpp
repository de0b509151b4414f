#include <fmt/format.h>

#include <array>

#include "catalogue/files/json_document.hpp"
#include "catalogue/hf/decoder.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/model.hpp"

namespace ridge {

namespace {

/// The configuration of the language model inside one that also sees or hears, and whether there was one.
struct TextPart {
  JsonReader config;
  bool nested = false;
};

TextPart text_part(const JsonReader& root) {
  TextPart part{root, false};
  // Twice, because audio models keep it in "thinker_config".
  for (int depth = 0; depth < 2; ++depth) {
    for (const std::string_view key : {"thinker_config", "text_config", "llm_config", "language_config"}) {
      if (!part.config.has(key)) continue;
      part = {part.config.object(key), true};
      break;
    }
  }
  return part;
}

std::string first_class(JsonReader& config) {
  std::vector<std::string> classes = config.texts("architectures", 16);
  return classes.empty() ? std::string() : std::move(classes.front());
}

const Family* family_of(JsonReader& config) {
  if (const Family* family = find_family(config.optional_text("model_type"))) return family;
  return find_family_of_class(first_class(config));
}

/// By the text part's own type or class, else by those around it.
const Family* choose_family(JsonReader& root, JsonReader& text) {
  const Family* family = family_of(text);
  return family != nullptr ? family : family_of(root);
}

void refuse_unknown(JsonReader& root, JsonReader& text) {
  JsonReader& named = text.has("model_type") ? text : root;
  const std::string type = named.optional_text("model_type").substr(0, 40);
  if (type.empty()) {
    named.refuse("model_type", "'model_type' is missing: it says how the layers are built");
    return;
  }
  const std::vector<std::string_view> names = family_names();
  const std::string close = nearest(type, names.data(), names.size());
  named.refuse(
      "model_type",
      close.empty()
          ? fmt::format("architecture '{}' is not known, nor anything like it: 'llama', 'mixtral', 'qwen3_moe', "
                        "'deepseek_v3', 'gemma3', 'gpt_oss', 'nemotron_h' are among the known",
                        type)
          : fmt::format("architecture '{}' is not known; nearest: {}", type, close));
}

}  // namespace

Result<Model> parse_hf_config(std::string_view json, std::string_view where) {
  const Result<JsonNode> tree = parse_json(json, where);
  if (!tree) return tree.error();
  if (tree->kind != JsonNode::Kind::object) {
    return Error{ErrorCode::bad_input, std::string(where), "a config.json is one object in braces"};
  }
  JsonReader root(*tree, where);
  TextPart part = text_part(root);
  JsonReader& text = part.config;
  const Family* family = choose_family(root, text);
  if (family == nullptr) {
    refuse_unknown(root, text);
    return *root.error();
  }
  Model model = family->read != nullptr ? family->read(text, *family) : read_decoder(text, *family);
  model.tied_embeddings = text.flag({"tie_word_embeddings"}, root.flag({"tie_word_embeddings"}, family->tied));
  model.quantization = read_quantization(text);
  if (model.quantization.empty()) model.quantization = read_quantization(root);
  if (part.nested) model.notes = "The language part; towers for images and sound are not counted.";
  if (root.error()) return *root.error();
  model.id = std::string(where);
  model.name = root.optional_text("_name_or_path");
  if (root.error()) return *root.error();
  if (model.name.empty()) model.name = model.id;
  model.file = std::string(where);
  return model;
}

}  // namespace ridge
