#include "claims/known/facts.hpp"

#include <algorithm>

#include "catalogue/files/toml_document.hpp"
#include "ridge/base/text.hpp"

namespace ridge::claims {

const PublishedRun* Facts::run(std::string_view model) const {
  const auto at = std::find_if(runs.begin(), runs.end(), [&](const PublishedRun& r) { return r.model == model; });
  return at == runs.end() ? nullptr : &*at;
}

Result<Facts> Facts::load(const Catalogue& catalogue, std::string_view toml, std::string_view file) {
  const auto root = parse_toml(toml, file);
  if (!root) return root.error();
  Facts facts;
  if (const TomlMember* also = root->find("also")) {
    for (const TomlNode& entry : also->value.items) {
      AlsoPublished one;
      std::string value;
      for (const TomlMember& member : entry.members) {
        std::string* into = member.key == "of"       ? &one.of
                            : member.key == "figure" ? &one.figure
                            : member.key == "value"  ? &value
                            : member.key == "why"    ? &one.why
                                                     : nullptr;
        if (into == nullptr) {
          return Error{ErrorCode::bad_input, place_text(file, member.line, member.column),
                       "'" + member.key + "' is no key: use of, figure, value, why"};
        }
        *into = member.value.text;
      }
      auto measure = parse_claimed(value);
      if (!measure || one.why.empty()) {
        return Error{ErrorCode::bad_input, place_text(file, entry.line, entry.column), "a value and why are needed"};
      }
      one.value = std::move(*measure);
      facts.also.push_back(std::move(one));
    }
  }
  const TomlMember* list = root->find("run");
  if (list == nullptr) return facts;
  for (const TomlNode& entry : list->value.items) {
    const auto wrong = [&](std::string message) {
      return Error{ErrorCode::bad_input, place_text(file, entry.line, entry.column), std::move(message)};
    };
    PublishedRun run;
    for (const TomlMember& member : entry.members) {
      const auto count = [&](double& into) -> Status {
        const auto value = parse_count(member.value.text);
        if (!value) return wrong("'" + member.key + "': " + value.error().message);
        into = *value;
        return {};
      };
      Status status;
      if (member.key == "model") {
        run.model = member.value.text;
      } else if (member.key == "tokens") {
        status = count(run.tokens);
      } else if (member.key == "gpu_hours") {
        status = count(run.gpu_hours);
      } else if (member.key == "sequence") {
        run.sequence = static_cast<int>(member.value.integer);
      } else if (member.key == "source") {
        run.source = member.value.text;
      } else {
        status = wrong("'" + member.key + "' is no key of a run");
      }
      if (!status) return status.error();
    }
    if (catalogue.model(run.model) == nullptr) return wrong("there is no model " + quoted(run.model));
    if (run.tokens <= 0 || run.source.empty()) return wrong("a run needs tokens and a source");
    facts.runs.push_back(std::move(run));
  }
  return facts;
}

}  // namespace ridge::claims
