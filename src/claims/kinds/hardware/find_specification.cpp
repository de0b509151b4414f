// Figures of devices, systems and links in sentences and tables.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "claims/kinds/all_kinds.hpp"
#include "claims/kinds/finders.hpp"
#include "claims/known/figures.hpp"
#include "claims/reading/collector.hpp"
#include "claims/reading/misreadings.hpp"

namespace ridge::claims {

namespace {

std::string format_id(const Token& token) {
  const std::string& id = token.name->id;
  return id == "int4" ? "" : id;
}

/// The format a column is about; of "FP16/BF16" the one that every part has.
std::string first_format(const Tokens& tokens) {
  const Token* format = first_name(tokens, NameKind::format);
  if (format == nullptr) return "";
  for (const Token& t : tokens) {
    if (t.is_name(NameKind::format) && t.name->id == "bf16") return "bf16";
  }
  return format_id(*format);
}

std::string says(const Token& subject, const std::string& figure, const Measure& m) {
  return fmt::format("{}: {} {}", subject.text, figure_words(figure), m.text);
}

/// "8x in DGX H100", "NVL72 (36x GPU)", "an NVL72 has 36 GPUs".
void recognise_counts(const Tokens& tokens, Collector& out) {
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (!tokens[i].is_number() || out.used(tokens[i])) continue;
    const bool factor = tokens[i].measure.form == Measure::Form::factor;
    const bool counted = is_a<Gpus>(tokens[i].measure);
    if (!factor && !counted) continue;
    const bool more = i + 1 < tokens.size();
    const bool gpus = factor && more && (tokens[i + 1].is("gpu") || tokens[i + 1].is("gpus"));
    const bool in =
        factor && i + 2 < tokens.size() && tokens[i + 1].is("in") && tokens[i + 2].is_name(NameKind::system);
    const std::size_t before = name_before(tokens, i, NameKind::system);
    const bool has = counted && before != kNowhere && i - before <= 3 &&
                     any_word(tokens, before, i, {"has", "have", "contains", "holds", "with"}) &&
                     !any_word(tokens, before, i, {"node", "nodes", "cluster", "rack", "racks", "pod", "systems"}) &&
                     (before == 0 || !tokens[before - 1].is_number());
    const Token* system = in ? &tokens[i + 2] : (gpus || has) && before != kNowhere ? &tokens[before] : nullptr;
    if (system == nullptr) continue;
    Measure count = tokens[i].measure;
    count.form = Measure::Form::plain;
    count.exponents[6] = 1;
    out.add(specification_kind(), tokens[i], count, says(*system, "devices", tokens[i].measure),
            {{"of", system->name->id}, {"figure", "devices"}});
  }
}

bool is_specified(const Token& t) {
  return t.is_name(NameKind::device) || t.is_name(NameKind::system);
}

/// The figure of the part itself, or of another that the same words mean.
bool is_figure_of(const Context& context, const Name& name, const std::string& figure, const Measure& m) {
  const auto same = [&](const std::string& id) {
    const auto looked = look_up(context, id + ":" + figure);
    return looked && std::abs(m.value / looked->measure.value - 1) < 0.03;
  };
  return same(name.id) || std::any_of(name.also.begin(), name.also.end(), same);
}

/// How many of a part are spoken of: "eight H100s", "8x H100", "a 4-GPU H200 server"; 1 if nothing says so.
double count_of(const Tokens& tokens, const Token& subject) {
  // The part may have been named in the sentence before.
  const auto found_at = std::find_if(tokens.begin(), tokens.end(), [&](const Token& t) { return &t == &subject; });
  if (found_at == tokens.begin() || found_at == tokens.end()) return 1;
  auto i = static_cast<std::size_t>(found_at - tokens.begin()) - 1;
  if (tokens[i].is("gpu") || tokens[i].is("card") || tokens[i].is("way")) {
    if (i >= 2 && tokens[i - 1].is("-")) i -= 2;
  }
  const Token& number = tokens[i];
  if (!number.is_number() || number.measure.form == Measure::Form::percent || number.measure.suffix != 0) return 1;
  if (number.measure.has_unit() && !is_a<Gpus>(number.measure)) return 1;
  const double count = number.measure.value;
  return count == std::floor(count) && count >= 2 && count <= 1e6 ? count : 1;
}

void recognise_sentence(const Passage& sentence, Collector& out);

std::ptrdiff_t count_of_parts(const TableCell& cell) {
  return std::count_if(cell.tokens.begin(), cell.tokens.end(), is_specified);
}

void recognise_row(const Passage& row, Collector& out) {
  const Token* subject = nullptr;
  const TableCell* subject_cell = nullptr;
  for (const TableCell& cell : row.cells) {
    subject = first_hardware(cell.tokens);
    subject_cell = &cell;
    // Rows about a model say what it needs and reaches, not what a part has.
    const bool results = header_has(cell, {"model"}) || first_name(cell.tokens, NameKind::model) != nullptr;
    if (results) return;
    if (subject != nullptr) break;
  }
  recognise_counts(row.tokens, out);
  // Reasons in words: "72x GPU, 18 PFLOPS FP8".
  if (header_has(row.cells[0], {"scenario"}) && subject != nullptr) {
    recognise_sentence(row, out);
    return;
  }
  // A column about several parts or a scenario ("A100 / L40S") says nothing of one of them.
  if (subject == nullptr || (row.cells.size() > 1 && header_has(row.cells[0], {"scenario", "gpu", "count"}) &&
                             header_has(row.cells[0], {"scenario", "count"}))) {
    return;
  }
  for (std::size_t i = 1; i < row.cells.size(); ++i) {
    const TableCell& cell = row.cells[i];
    const auto m = cell_measure(cell);
    const Token* number = first_number(cell.tokens);
    if (!m || out.used(*number)) continue;
    const std::string figure = column_figure(cell, *m);
    if (figure.empty()) continue;
    // A row about a link that ends with the parts that have it.
    const bool of_link =
        first_name(row.cells[0].tokens, NameKind::fabric) != nullptr ||
        any_word(row.cells[0].tokens, {"nvlink", "pcie", "infiniband", "ethernet", "cache", "l2", "sram"});
    if (figure == "bandwidth" && of_link) continue;
    const bool of_device = subject->name->kind == NameKind::device;
    if (figure == "power" && of_device && header_has(cell, {"node", "server", "rack", "cluster", "total", "system"}))
      continue;
    if (any_word(row.cells[0].tokens, {"superpod", "pod", "cluster"})) continue;
    const bool own = is_figure_of(out.context(), *subject->name, figure, *m);
    // "16x H100 | 1.3 TB" is of all of them, and their bandwidth that of the machine; "H100/H200" leaves open whose it
    // is.
    const double count = subject_cell == nullptr ? 1 : count_of(subject_cell->tokens, *subject);
    const bool open = subject_cell != nullptr && count_of_parts(*subject_cell) > 1;
    if (!own && of_device && (open || (count > 1 && figure != "memory"))) continue;
    std::vector<Found> inputs = {{"of", subject->name->id}, {"figure", figure}};
    if (!own && of_device && count > 1) inputs.push_back({"per", fmt::format("{}", count)});
    if (any_word(cell.tokens, {"pod"})) {
      const System* pod = nullptr;
      for (const System& s : out.context().catalogue.systems()) {
        if (s.kind == SystemKind::pod && s.device == subject->name->id) pod = &s;
      }
      if (pod == nullptr) continue;
      inputs[0].text = pod->id;
    }
    // "DGX H100, 6x" in a column about power: six of them.
    if (figure == "power" && subject->name->kind == NameKind::system) {
      for (const Token& t : row.cells[0].tokens) {
        const bool several = t.is_number() && t.measure.form == Measure::Form::factor;
        const System* system = out.context().catalogue.system(subject->name->id);
        if (several && t.measure.value != system->devices())
          inputs.push_back({"per", fmt::format("{}", t.measure.value)});
      }
    }
    Measure claimed = *m;
    claimed.text = cell.header->text.empty() || number->measure.has_unit() ? number->text
                   : cell.header->text.find("GiB") != std::string::npos    ? number->text + " GiB"
                                                                           : faithful(claimed);
    out.add(specification_kind(), *number, claimed, says(*subject, figure, claimed), std::move(inputs));
  }
}

/// Only a word that points back makes a figure one of what the sentence before is about.
const Token* previous_subject(const Passage& sentence) {
  const bool points_back = any_word(sentence.tokens, {"it", "its", "they", "their"}) ||
                           any_word(sentence.tokens, 0, 1, {"this", "that", "these"});
  if (sentence.previous == nullptr || !points_back) return nullptr;
  return first_hardware(sentence.previous->tokens);
}

/// Whose figure a number of a sentence is: "700 W for the H100", "with its 141 GB, the H200", else the last part named
/// before it, else the subject of the sentence before.
const Token* owner(const Passage& sentence, std::size_t at) {
  const Tokens& tokens = sentence.tokens;
  for (std::size_t i = at + 1; i < std::min(at + 4, tokens.size()); ++i) {
    if (tokens[i].is_number() || tokens[i].is("vs") || tokens[i].is(",")) break;
    if (!tokens[i].is("for") && !tokens[i].is("on")) continue;
    for (std::size_t j = i + 1; j < std::min(i + 3, tokens.size()); ++j) {
      if (is_specified(tokens[j])) return &tokens[j];
    }
  }
  // "192 GB B200" and "5.3 TB/s MI300X".
  if (at + 1 < tokens.size() && tokens[at + 1].is_name(NameKind::device)) return &tokens[at + 1];
  const bool with_its = at >= 2 && tokens[at - 1].is("its") && tokens[at - 2].is("with");
  const bool with = at >= 1 && tokens[at - 1].is("with");
  if (with_its || with) {
    for (std::size_t i = at + 1; i < std::min(at + 14, tokens.size()); ++i) {
      if (is_specified(tokens[i])) return &tokens[i];
      if (tokens[i].is(";")) break;
    }
  }
  if (const Token* subject = meant_by_its(tokens, at)) return subject;
  int closed = 0;
  for (std::size_t i = at; i-- > 0;) {
    if (tokens[i].is(")")) ++closed;
    if (tokens[i].is("(") && closed > 0) --closed;
    // What a closed bracket names is an aside; past "while" another sentence starts.
    if (tokens[i].is("while") || tokens[i].is("whereas")) return nullptr;
    if (closed > 0 || !is_specified(tokens[i])) continue;
    if (at - i > 2 && is_partner(tokens, i)) continue;
    return &tokens[i];
  }
  return previous_subject(sentence);
}

/// Where the words about a number begin and end: up to the numbers of the same unit beside it, some tokens at most.
std::pair<std::size_t, std::size_t> window(const Tokens& tokens, std::size_t at, std::size_t back, std::size_t ahead) {
  std::size_t from = at;
  while (from > 0 && at - from < back) {
    const Token& t = tokens[from - 1];
    if (t.is_number() && same_dimension(t.measure, tokens[at].measure)) break;
    --from;
  }
  std::size_t to = at + 1;
  while (to < tokens.size() && to - at <= ahead) {
    const Token& t = tokens[to];
    if ((t.is_number() && same_dimension(t.measure, tokens[at].measure)) || t.is(";")) break;
    ++to;
  }
  return {from, to};
}

std::string nearby_format(const Tokens& tokens, std::size_t at) {
  // "67 TFLOPS and 34 TFLOPS at FP32/FP64 precision respectively" names one format for each, in order.
  const auto [from, to] = window(tokens, at, 10, 7);
  const std::size_t after = name_after(tokens, at, NameKind::format);
  const std::size_t respectively = [&] {
    for (std::size_t i = at; i < tokens.size(); ++i) {
      if (tokens[i].is("respectively")) return i;
    }
    return kNowhere;
  }();
  if (respectively != kNowhere && after != kNowhere && after < respectively && respectively - after < 7) return "";
  if (after != kNowhere && after < to) {
    // Only if nothing else starts between: "20 PFLOPS, while FP8 ..."
    const bool comma = any_word(tokens, at, after, {",", "(", "while", "and"});
    if (!comma) return format_id(tokens[after]);
  }
  const std::size_t before = name_before(tokens, at, NameKind::format);
  if (before != kNowhere && before >= from) {
    // Of "FP16/BF16" the first.
    std::size_t first = before;
    while (first >= 2 && tokens[first - 1].is("/") && tokens[first - 2].is_name(NameKind::format)) first -= 2;
    return format_id(tokens[first]);
  }
  std::string only;
  for (const Token& t : tokens) {
    if (!t.is_name(NameKind::format)) continue;
    const std::string id = format_id(t);
    const bool same = only.empty() || only == id || (only == "int8" && id == "fp8") || (only == "fp8" && id == "int8");
    if (!same) return "";
    if (only.empty() || id == "fp8") only = id;
  }
  return only;
}

std::string sentence_figure(const Tokens& tokens, std::size_t at) {
  const Measure& m = tokens[at].measure;
  const auto [from, to] = window(tokens, at, 9, 6);
  if (is_a<FlopsPerSecond>(m)) return nearby_format(tokens, at);
  if (is_a<Bytes>(m)) {
    if (any_word(tokens, from, to, {"kv", "cache", "weights", "total", "model", "per"})) return "";
    return any_word(tokens, from, to, {"memory", "hbm", "hbm3", "hbm3e", "hbm2e", "capacity", "vram"}) ? "memory" : "";
  }
  if (is_a<BytesPerSecond>(m)) {
    if (any_word(tokens, from, to, {"bisection", "network", "storage", "node", "checkpoint", "per", "needs"}))
      return "";
    const bool link = any_word(tokens, from, to, {"inter", "interconnect", "connection", "link", "links", "nvlink"});
    for (std::size_t n = from; n < (link ? std::min(to + 5, tokens.size()) : to); ++n) {
      if (tokens[n].is_name(NameKind::fabric)) return "fabric:" + tokens[n].name->id;
    }
    if (any_word(tokens, from, to, {"nvlink"}) && !any_word(tokens, {"die", "dies", "rack", "bisection"}))
      return "nvlink";
    if (link) return "";
    return any_word(tokens, from, to, {"bandwidth", "memory", "hbm", "hbm3", "hbm3e"}) ? "bandwidth" : "";
  }
  if (is_a<Watts>(m)) {
    if (any_word(tokens, {"light", "bulb", "limit", "capping", "rack", "budget"})) return "";
    const bool power = any_stem(tokens, 0, tokens.size(), {"power", "tdp", "consum", "draw"});
    return power && !any_word(tokens, from, to, {"constraint", "exceeded"}) ? "power" : "";
  }
  return "";
}

/// A link's figure stands close to its name, and is not that of one lane, or of what runs over it.
bool beside_fabric(const Tokens& tokens, std::size_t at) {
  const std::size_t near = at > 6 ? at - 6 : 0;
  if (any_word(tokens, near, at + 7, {"lanes", "lane", "throughput", "sharp", "ring", "node", "links"})) return false;
  for (std::size_t i = at > 9 ? at - 9 : 0; i < std::min(at + 10, tokens.size()); ++i) {
    if (tokens[i].is_name(NameKind::fabric)) return true;
  }
  return false;
}

/// "/GPU", "per GPU", "each" within a few words.
bool per_gpu(const Tokens& tokens, std::size_t at) {
  if (tokens[at].measure.exponents[6] == -1) return true;
  for (std::size_t i = at + 1; i < std::min(at + 5, tokens.size()); ++i) {
    if (tokens[i].is("each")) return true;
    const bool gpu = tokens[i].is("gpu") || tokens[i].is("card") || tokens[i].is("chip");
    if (gpu && (tokens[i - 1].is("/") || tokens[i - 1].is("per") || tokens[i - 1].is("each"))) return true;
  }
  return false;
}

void recognise_sentence(const Passage& sentence, Collector& out) {
  const Tokens& tokens = sentence.tokens;
  if (is_log(tokens)) return;
  recognise_counts(tokens, out);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const Token& number = tokens[i];
    if (!number.is_number() || number.measure.form != Measure::Form::plain || !number.measure.has_unit()) continue;
    if (out.used(number)) continue;
    // A factor in a product or quotient is no figure of its own.
    const bool sum = i + 1 < tokens.size() && (tokens[i + 1].is("x") || tokens[i + 1].is("/") || tokens[i + 1].is("*"));
    if (sum) continue;
    if (speaks_of_measurement(tokens)) continue;
    std::string figure = sentence_figure(tokens, i);
    if (figure.empty()) figure = plain_figure(tokens, i);
    if (figure.empty()) continue;
    if (figure.starts_with("fabric:")) {
      // Beside a link's name may stand the memory bandwidth of a part.
      bool memory = false;
      for (const Token* part : parts_in_scope(sentence, i)) {
        memory = memory || is_figure_of(out.context(), *part->name, "bandwidth", number.measure);
      }
      if (memory) continue;
      if (belongs_elsewhere(tokens, i, "bandwidth") || !beside_fabric(tokens, i)) continue;
      out.add(specification_kind(), number, fmt::format("{}: bandwidth {}", figure.substr(7), number.text),
              {{"of", figure.substr(7)}, {"figure", "bandwidth"}});
      continue;
    }
    const Token* subject = owner(sentence, i);
    if (subject == nullptr) continue;
    // Of several parts that are named it is the one that has it, unless the grammar leaves no doubt.
    if (!is_figure_of(out.context(), *subject->name, figure, number.measure)) {
      const bool strict = !plain_figure(tokens, i).empty() && subject < &number;
      for (const Token* part : parts_in_scope(sentence, i)) {
        if (strict || part->name->id == subject->name->id) continue;
        if (!is_figure_of(out.context(), *part->name, figure, number.measure)) continue;
        subject = part;
        break;
      }
    }
    std::vector<Found> inputs = {{"of", subject->name->id}, {"figure", figure}};
    const auto [from, to] = window(tokens, i, 2, 4);
    if (any_word(tokens, from, to, {"sparsity", "sparse"})) inputs.push_back({"sparse", "yes"});
    const auto one = look_up(out.context(), subject->name->id + ":" + figure);
    // What is the part's own figure is right whatever else the sentence speaks of.
    const bool own = is_figure_of(out.context(), *subject->name, figure, number.measure);
    if (!own && (belongs_elsewhere(tokens, i, figure) || is_listed(tokens, i))) continue;
    // A sentence that speaks of sparsity knows which of its figures are sparse.
    const bool knows = any_word(tokens, {"sparsity", "sparse"}) && !any_word(tokens, from, to, {"sparsity", "sparse"});
    const double gain = one ? number.measure.value / one->measure.value : 0;
    const bool sparse = std::abs(gain - 2) < 0.1 || std::abs(gain - 4) < 0.2;
    if (knows && sparse && peak_format(figure)) continue;
    if (one && !is_plausible(number.measure, one->measure)) {
      // Beside a system's name one of its devices may be meant.
      const System* system = out.context().catalogue.system(subject->name->id);
      const auto device = system == nullptr ? one : look_up(out.context(), system->device + ":" + figure);
      if (!device || !is_plausible(number.measure, device->measure)) continue;
    }
    // "384 GB HBM/GPU" beside a rack's name is a figure of its device; "1.44 TB of GPU memory" is not.
    const bool each = per_gpu(tokens, i);
    if (each && subject->name->kind == NameKind::system) {
      inputs[0].text = out.context().catalogue.system(subject->name->id)->device;
    }
    if (const double count = each ? 1 : count_of(tokens, *subject); count > 1) {
      // Of several devices either all together or each is meant, whichever fits.
      if (!own) inputs.push_back({"per", fmt::format("{}", count)});
    }
    out.add(specification_kind(), number, says(*subject, figure, number.measure), std::move(inputs));
  }
}

}  // namespace

std::string column_figure(const TableCell& cell, const Measure& m) {
  if (is_a<FlopsPerSecond>(m)) {
    std::string format = first_format(cell.header->tokens);
    if (format.empty()) format = first_format(cell.tokens);
    return format;
  }
  if (is_a<Bytes>(m)) {
    const bool memory = header_has(cell, {"hbm", "memory", "vram"}) &&
                        !header_has(cell, {"host", "reduction", "size", "budget", "required", "needed", "usage",
                                           "limit", "requirement"});
    return memory ? "memory" : "";
  }
  if (is_a<BytesPerSecond>(m)) {
    const bool fabric = first_name(cell.header->tokens, NameKind::fabric) != nullptr ||
                        header_has(cell, {"nvlink", "infinity", "interconnect"});
    if (fabric) return any_word(cell.tokens, {"pcie"}) ? "" : "nvlink";
    const bool memory = header_has(cell, {"bandwidth"}) &&
                        !header_has(cell, {"link", "node", "per", "network", "links", "efa", "nic", "fabric"}) &&
                        !any_word(cell.tokens, {"link", "lane"});
    return memory ? "bandwidth" : "";
  }
  if (is_a<Watts>(m)) {
    if (!header_has(cell, {"tdp", "power"}) && !any_word(cell.tokens, {"tdp"})) return "";
    const bool limit = header_has(cell, {"limit", "cap"});
    return !limit || any_word(cell.tokens, {"max", "default", "nominal"}) ? "power" : "";
  }
  return "";
}

void find_specifications(const Passage& passage, Collector& out) {
  if (passage.is_row()) {
    recognise_row(passage, out);
    if (first_hardware(passage.cells[0].tokens) == nullptr) find_columns(passage, out);
  } else {
    recognise_sentence(passage, out);
  }
}

}  // namespace ridge::claims
