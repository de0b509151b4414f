// Reading the inputs of a claim: measures, references into the catalogue, names.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/known/figures.hpp"
#include "claims/known/kind.hpp"
#include "ridge/base/text.hpp"
#include "ridge/perf/training.hpp"

namespace ridge::claims {

namespace {

constexpr std::string_view kAsClaimed = "as claimed";

std::string source_title(const Catalogue& catalogue, SourceId id) {
  const Source& source = catalogue.source(id);
  return source.date.empty() ? source.title : fmt::format("{} ({})", source.title, source.date);
}

Error unknown(std::string message) {
  return {ErrorCode::not_found, "", std::move(message)};
}

Result<Looked> of_device(const Catalogue& catalogue, const Device& device, std::string_view figure) {
  const auto value = device_figure(device, figure);
  if (!value) {
    return unknown(fmt::format("{} of {} is not in the catalogue",
                               figure_title(figure).empty() ? quoted(figure) : figure_title(figure), device.id));
  }
  return Looked{value->measure, fmt::format("{} {} {}", device.id, figure_title(figure), value->measure.text),
                source_title(catalogue, value->source)};
}

Result<Looked> of_system(const Catalogue& catalogue, const System& system, std::string_view figure) {
  const auto value = system_figure(catalogue, system, figure);
  if (!value) return unknown(fmt::format("{} of {} is not in the catalogue", quoted(figure), system.id));
  return Looked{value->measure, fmt::format("{} {} {}", system.id, figure_title(figure), value->measure.text),
                source_title(catalogue, value->source)};
}

Result<Looked> of_fabric(const Catalogue& catalogue, const Fabric& fabric, std::string_view figure) {
  const auto& rate =
      figure == "port" || !fabric.device_per_direction ? fabric.port_per_direction : fabric.device_per_direction;
  if (!rate) return unknown(fmt::format("the bandwidth of {} is not in the catalogue", fabric.id));
  const double ways = figure == "nvlink" || figure == "both-ways" ? 2 : 1;
  const Measure m = measure_of(rate->value * ways);
  return Looked{m, fmt::format("{} {} {}", fabric.id, ways == 2 ? "both directions" : "one direction", m.text),
                source_title(catalogue, rate->source)};
}

Result<Looked> of_model(const Catalogue& catalogue, const Model& model, std::string_view figure) {
  const std::string source = source_title(catalogue, SourceId{model.source});
  const Parameters parameters = count_parameters(model);
  if (figure == "parameters" || figure == "active") {
    const Measure m = measure_of(figure == "active" ? parameters.active : parameters.total);
    return Looked{m, fmt::format("{} {} {}", model.id, figure, m.text), source};
  }
  constexpr std::string_view kFlops = "flops@";
  if (figure.starts_with(kFlops)) {
    const auto sequence = parse_count(figure.substr(kFlops.size()));
    if (!sequence || *sequence < 1 || *sequence > 1e7) return unknown("write for example 'llama3-70b:flops@8192'");
    const Measure m = measure_of(training_flops_per_token(model, static_cast<int>(*sequence)));
    return Looked{m, fmt::format("{} training FLOP per token {}", model.id, m.text), source};
  }
  return unknown(quoted(figure) + " is no figure of a model: use parameters, active or flops@SEQUENCE");
}

}  // namespace

Error cannot(std::string reason) {
  return {ErrorCode::refused, "", std::move(reason)};
}

Result<Looked> look_up(const Context& context, std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon != std::string_view::npos) {
    const std::string_view who = text.substr(0, colon);
    const std::string_view figure = text.substr(colon + 1);
    const Name* name = context.names.of_id(who);
    if (name == nullptr) name = context.names.find(who);
    if (name == nullptr) return unknown(quoted(who) + " is not in the catalogue");
    switch (name->kind) {
      case NameKind::device:
        return of_device(context.catalogue, *context.catalogue.device(name->id), figure);
      case NameKind::system:
        return of_system(context.catalogue, *context.catalogue.system(name->id), figure);
      case NameKind::model:
        return of_model(context.catalogue, *context.catalogue.model(name->id), figure);
      case NameKind::fabric:
        return of_fabric(context.catalogue, *context.catalogue.fabric(name->id), figure);
      case NameKind::format:
        break;
    }
    return unknown(quoted(who) + " has no figures");
  }
  const auto measure = parse_claimed(text);
  if (!measure) return measure.error();
  return Looked{*measure, std::string(text), std::string(kAsClaimed)};
}

const ClaimInput* Inputs::find(std::string_view name) const {
  const auto at = claim_.inputs.find(std::string(name));
  return at == claim_.inputs.end() ? nullptr : &at->second;
}

std::string Inputs::text(std::string_view name) const {
  const ClaimInput* input = find(name);
  return input == nullptr ? "" : input->text;
}

Result<Looked> Inputs::measure(std::string_view name) {
  const ClaimInput* input = find(name);
  if (input == nullptr) return cannot(fmt::format("the {} is not given", name));
  if (input->measure) {
    if (input->measure->value != 0) slack_ += 0.5 * std::abs(input->measure->written / input->measure->value);
    note(std::string(name), input->text, std::string(kAsClaimed));
    return Looked{*input->measure, input->text, std::string(kAsClaimed)};
  }
  auto looked = look_up(context_, input->text);
  if (!looked) return looked.error();
  if (looked->source == kAsClaimed && looked->measure.value != 0) {
    slack_ += 0.5 * std::abs(looked->measure.written / looked->measure.value);
  }
  note(std::string(name), looked->shown, looked->source);
  return looked;
}

Result<double> Inputs::count(std::string_view name, std::optional<double> otherwise, bool binary) {
  const ClaimInput* input = find(name);
  if (input == nullptr) {
    if (otherwise) return *otherwise;
    return cannot(fmt::format("the {} is not given", name));
  }
  const auto measure = input->measure ? Result<Measure>(*input->measure) : parse_claimed(input->text);
  if (!measure) return measure.error();
  double value = measure->value;
  // "128K" of context is 131,072 tokens, "1M" 1,048,576.
  if (binary && !measure->has_unit()) {
    if (measure->suffix == 'k' || measure->suffix == 'K') value = value / 1e3 * 1024;
    if (measure->suffix == 'M') value = value / 1e6 * 1024 * 1024;
  }
  if (!(value > 0)) return cannot(fmt::format("the {} is zero or negative", name));
  // Small whole numbers are counted: eight GPUs are eight.
  if (measure->suffix != 0 || measure->has_unit()) slack_ += 0.5 * std::abs(measure->written / measure->value);
  note(std::string(name), input->text, std::string(kAsClaimed));
  return value;
}

Result<const Device*> Inputs::device(std::string_view name) {
  const ClaimInput* input = find(name);
  if (input == nullptr) return cannot(fmt::format("the {} is not given", name));
  const Name* meant = context_.names.of_id(input->text);
  if (meant == nullptr) meant = context_.names.find(input->text);
  if (meant == nullptr) return cannot(quoted(input->text) + " is not in the catalogue");
  const Device* device = nullptr;
  if (meant->kind == NameKind::device) device = context_.catalogue.device(meant->id);
  if (meant->kind == NameKind::system) device = context_.catalogue.device(context_.catalogue.system(meant->id)->device);
  if (device == nullptr) return cannot(quoted(input->text) + " is no device");
  note(std::string(name), device->id, source_title(context_.catalogue, device->source));
  return device;
}

Result<const Model*> Inputs::model(std::string_view name) {
  const ClaimInput* input = find(name);
  if (input == nullptr) return cannot(fmt::format("the {} is not given", name));
  const Name* meant = context_.names.of_id(input->text);
  if (meant == nullptr) meant = context_.names.find(input->text);
  if (meant == nullptr || meant->kind != NameKind::model) {
    return cannot(quoted(input->text) + " is not among the models of the catalogue");
  }
  const Model* model = context_.catalogue.model(meant->id);
  note(std::string(name), model->id, source_title(context_.catalogue, SourceId{model->source}));
  return model;
}

Result<Format> Inputs::format(std::string_view name, Format otherwise) {
  const ClaimInput* input = find(name);
  if (input == nullptr) {
    note(std::string(name), std::string(ridge::name(otherwise)), "assumed");
    return otherwise;
  }
  const Name* meant = context_.names.find(input->text);
  const auto format = parse_format(meant != nullptr && meant->kind == NameKind::format ? meant->id : input->text);
  if (!format) return format.error();
  note(std::string(name), input->text, std::string(kAsClaimed));
  return format;
}

void Inputs::note(std::string name, std::string value, std::string source) {
  taken_.push_back({std::move(name), std::move(value), std::move(source)});
}

}  // namespace ridge::claims
