#include "economics/price/api_import.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "catalogue/files/json_document.hpp"
#include "catalogue/tables/price_terms.hpp"
#include "ridge/base/change.hpp"
#include "ridge/base/text.hpp"
#include "ridge/catalogue/names.hpp"

namespace ridge {

namespace {

constexpr double kMostUsdPerMillion = 10'000;

/// Dollars for a million tokens from what one token costs, a number or (OpenRouter) a text; 0 where it is not said.
Result<double> price_of_token(const JsonNode& entry, std::string_view key, const std::string& where) {
  const JsonNode* node = entry.find(key);
  if (node == nullptr) return 0;
  const auto refuse = [&](std::string message) {
    return Error{ErrorCode::bad_input, fmt::format("{}/{}", where, key), std::move(message)};
  };
  double usd = 0;
  if (node->kind == JsonNode::Kind::number || node->kind == JsonNode::Kind::integer) {
    usd = node->number;
  } else if (node->kind == JsonNode::Kind::text) {
    const std::optional<double> value = parse_decimal(node->text);
    if (!value) return refuse(fmt::format("{} is no price of a token", quoted(node->text)));
    usd = *value;
  } else {
    return refuse("a price of a token is a number");
  }
  if (usd < 0 && usd != -1) return refuse(fmt::format("{:g} is below 0", usd));
  usd *= 1e6;
  if (!std::isfinite(usd) || usd > kMostUsdPerMillion) {
    return refuse(fmt::format("${:g} for a million tokens: the price is of one token, in dollars", usd));
  }
  return usd;  // -1, as OpenRouter writes it: the price depends on the request
}

std::optional<int> tokens(const JsonNode& entry, std::string_view key) {
  const JsonNode* node = entry.find(key);
  if (node == nullptr || (node->kind != JsonNode::Kind::integer && node->kind != JsonNode::Kind::number)) return {};
  if (!(node->number >= 1 && node->number <= 1e9)) return {};
  return static_cast<int>(node->number);
}

class ApiReader {
 public:
  ApiReader(const Catalogue& catalogue, std::string_view file, const std::vector<std::string>& without)
      : catalogue_(catalogue), file_(file) {
    for (const std::string& provider : without) without_.emplace(provider, 0);
  }

  Status litellm(const JsonNode& root) {
    if (root.kind != JsonNode::Kind::object) return wrong("", "LiteLLM's file is an object of models");
    for (const JsonMember& member : root.members) {
      if (member.key == "sample_spec") continue;  // says what the keys mean
      const std::string where = fmt::format("{}#/{}", file_, member.key);
      if (member.value.kind != JsonNode::Kind::object) return wrong("/" + member.key, "a model is an object");
      ++list_.listed;
      const JsonNode* mode = member.value.find("mode");
      if (mode != nullptr && mode->text != "chat" && mode->text != "completion" && mode->text != "responses") continue;
      const JsonNode* provider = member.value.find("litellm_provider");
      if (provider == nullptr || provider->text.empty()) continue;
      if (const auto unwanted = without_.find(provider->text); unwanted != without_.end()) {
        ++unwanted->second;
        ++list_.set_aside;
        continue;
      }
      const Status s = add(member.value, where, provider->text, member.key,
                           {"input_cost_per_token", "output_cost_per_token", "cache_read_input_token_cost"},
                           tokens(member.value, "max_input_tokens"), tokens(member.value, "max_output_tokens"));
      if (!s) {
        Error error = s.error();
        error.message += fmt::format("; {} leaves out all of it", marked({{"without", provider->text}}));
        return error;
      }
    }
    return {};
  }

  /// A provider that was to be left out and is not there is a mistake in writing.
  [[nodiscard]] Status all_found() const {
    for (const auto& [provider, entries] : without_) {
      if (entries == 0) {
        return Error{ErrorCode::not_found, file_, fmt::format("no entry is of the provider {}", quoted(provider))};
      }
    }
    return {};
  }

  Status openrouter(const JsonNode& root) {
    const JsonNode* data = root.find("data");
    if (data == nullptr || data->kind != JsonNode::Kind::array) {
      return wrong("/data", "OpenRouter's list has an array `data` of models");
    }
    for (std::size_t i = 0; i < data->items.size(); ++i) {
      const JsonNode& entry = data->items[i];
      const std::string where = fmt::format("{}#/data/{}", file_, i);
      const JsonNode* id = entry.find("id");
      const JsonNode* pricing = entry.find("pricing");
      if (id == nullptr || id->kind != JsonNode::Kind::text) {
        return wrong(fmt::format("/data/{}", i), "a model has an `id`");
      }
      if (pricing == nullptr || pricing->kind != JsonNode::Kind::object) {
        return wrong(fmt::format("/data/{}", i), "a model has an object `pricing`");
      }
      ++list_.listed;
      const JsonNode* top = entry.find("top_provider");
      const Status s =
          add(*pricing, where + "/pricing", "openrouter", id->text, {"prompt", "completion", "input_cache_read"},
              tokens(entry, "context_length"), top != nullptr ? tokens(*top, "max_completion_tokens") : std::nullopt);
      if (!s) return s;
    }
    return {};
  }

  ApiList finish() {
    for (auto& [key, offer] : offers_) list_.offers.push_back(std::move(offer));
    return std::move(list_);
  }

 private:
  struct Keys {
    std::string_view input, output, cached;
  };

  Status wrong(const std::string& pointer, std::string message) const {
    return Error{ErrorCode::bad_input, fmt::format("{}#{}", file_, pointer), std::move(message)};
  }

  Status add(const JsonNode& prices, const std::string& where, const std::string& provider, const std::string& sold_as,
             const Keys& keys, std::optional<int> context, std::optional<int> longest) {
    const Result<double> input = price_of_token(prices, keys.input, where);
    if (!input) return input.error();
    const Result<double> output = price_of_token(prices, keys.output, where);
    if (!output) return output.error();
    const Result<double> cached = price_of_token(prices, keys.cached, where);
    if (!cached) return cached.error();
    if (!(*input > 0 && *output > 0)) {
      ++list_.free_of_charge;
      return {};
    }
    const Result<const Model*> model = model_of(sold_as);
    if (!model) {
      ++list_.untied;
      return {};
    }
    ApiOffer offer;
    offer.provider = provider;
    offer.serves = sold_as;
    offer.model = (*model)->id;
    offer.id = fmt::format("{}-{}", slug(provider), offer.model);
    offer.input_usd_per_million = *input;
    offer.output_usd_per_million = *output;
    if (*cached > 0 && *cached < *input) offer.cached_usd_per_million = *cached;
    offer.context = context;
    offer.longest_output = longest;
    const auto at = offers_.find(offer.id);
    const auto both = [](const ApiOffer& o) { return o.input_usd_per_million + o.output_usd_per_million; };
    if (at == offers_.end()) {
      offers_.emplace(offer.id, std::move(offer));
    } else if (both(offer) < both(at->second)) {
      at->second = std::move(offer);
    }
    return {};
  }

  /// "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct": what stands after the last slash, without what
  /// comes after a colon ("...:free" has no price of its own).
  Result<const Model*> model_of(std::string_view sold_as) const {
    std::string text(sold_as.substr(sold_as.rfind('/') + 1));  // npos + 1 is 0
    text = text.substr(0, text.find(':'));
    if (text.find("distill") != std::string::npos) return Error{ErrorCode::not_found, "", "a distilled model"};
    return model_named(catalogue_, text);
  }

  const Catalogue& catalogue_;
  std::string file_;
  std::map<std::string, ApiOffer> offers_;  // by id
  std::map<std::string, int> without_;      // providers left out, and how many entries that was
  ApiList list_;
};

}  // namespace

Result<ApiList> read_api_list(ApiForm form, std::string_view text, std::string_view file, const Catalogue& catalogue,
                              const std::vector<std::string>& without) {
  const Result<JsonNode> root = parse_json(text, file);
  if (!root) return root.error();
  ApiReader reader(catalogue, file, without);
  const Status s = form == ApiForm::litellm ? reader.litellm(*root) : reader.openrouter(*root);
  if (!s) return s.error();
  if (const Status found = reader.all_found(); !found) return found.error();
  ApiList list = reader.finish();
  if (list.offers.empty()) {
    return Error{ErrorCode::bad_input, std::string(file),
                 fmt::format("of {} entries none is a priced model of the catalogue: is it the right kind of file?",
                             list.listed)};
  }
  return list;
}

bool ApiChange::moved() const {
  if (before == nullptr || after == nullptr) return true;
  return before->input_usd_per_million != after->input_usd_per_million ||
         before->output_usd_per_million != after->output_usd_per_million ||
         before->cached_usd_per_million != after->cached_usd_per_million;
}

std::vector<ApiChange> api_changes(const std::vector<ApiOffer>& list, const std::vector<ApiOffer>& known) {
  std::map<std::pair<std::string, std::string>, ApiChange> all;
  for (const ApiOffer& offer : list) all[{offer.provider, offer.model}].after = &offer;
  for (const ApiOffer& offer : known) {
    if (offer.model.empty()) continue;
    const bool listed =
        std::any_of(list.begin(), list.end(), [&](const ApiOffer& other) { return other.provider == offer.provider; });
    if (listed) all[{offer.provider, offer.model}].before = &offer;
  }
  std::vector<ApiChange> changes;
  for (const auto& [key, change] : all) {
    if (change.moved()) changes.push_back(change);
  }
  return changes;
}

std::string offers_toml(const std::vector<ApiOffer>& offers, std::string_view origin, std::string_view date) {
  const auto text = [](std::string_view value) {
    std::string out = "\"";
    for (const char c : value) {
      if (c == '"' || c == '\\') out.push_back('\\');
      if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7f) out.push_back(c);
    }
    return out + "\"";
  };
  std::string out = fmt::format(
      "# What a million tokens cost, of the models of the catalogue; by `ridge catalogue import {}`. Of one provider's "
      "offers of a\n# model the cheapest stands here.\n",
      origin);
  for (const ApiOffer& o : offers) {
    out += fmt::format(
        "\n[[offer]]\nid = \"{}\"\nprovider = {}\nserves = {}\nmodel = \"{}\"\ninput = \"${:.6g}/1M tokens\"\noutput = "
        "\"${:.6g}/1M tokens\"\n",
        o.id, text(o.provider), text(o.serves), o.model, o.input_usd_per_million, o.output_usd_per_million);
    if (o.cached_usd_per_million)
      out += fmt::format("cached_input = \"${:.6g}/1M tokens\"\n", *o.cached_usd_per_million);
    if (o.context) out += fmt::format("context = {}\n", *o.context);
    if (o.longest_output) out += fmt::format("longest_output = {}\n", *o.longest_output);
    out += fmt::format("date = \"{}\"\nsource = \"{}-{}\"\n", date, origin, date.substr(0, 7));
  }
  return out;
}

}  // namespace ridge
