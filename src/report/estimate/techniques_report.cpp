#include "report/estimate/techniques_report.hpp"

#include <fmt/format.h>

#include "report/estimate/inference_report.hpp"
#include "report/table/optional_json.hpp"
#include "ridge/base/text.hpp"

namespace ridge::report {

namespace {

Cell factor(const std::optional<double>& value) {
  if (!value) return {};
  const Emphasis look = *value > 1.02 ? Emphasis::good : *value < 0.98 ? Emphasis::bad : Emphasis::none;
  return Cell(*value).shown_as(fmt::format("{:.2f}", *value)).with(look);
}

std::string range_text(const QuotedGain& q) {
  return q.low == q.high ? format_number(q.low) : fmt::format("{} to {}", format_number(q.low), format_number(q.high));
}

/// The sources of the quotes, each once.
class Sources {
 public:
  explicit Sources(std::span<const QuotedGain> quotes) {
    for (const QuotedGain& q : quotes) {
      if (number(q) == 0) sources_.push_back(&q);
    }
  }
  /// From 1; 0 if it is not among them.
  [[nodiscard]] std::size_t number(const QuotedGain& q) const {
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (sources_[i]->title == q.title && sources_[i]->where == q.where) return i + 1;
    }
    return 0;
  }
  [[nodiscard]] Table table() const {
    Table table;
    table.title = "Quoted by";
    table.headings = false;
    table.columns = {{.key = "number", .heading = "number"},
                     {.key = "source", .heading = "source", .overflow = Overflow::wrap}};
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      table.rows.push_back(
          {Cell(fmt::format("[{}]", i + 1)),
           Cell(fmt::format("{}, {}, {}", sources_[i]->title, sources_[i]->where, sources_[i]->date))});
    }
    return table;
  }

 private:
  std::vector<const QuotedGain*> sources_;
};

}  // namespace

Table techniques_table(std::span<const TechniqueGain> gains, std::span<const QuotedGain> quotes) {
  const Sources sources(quotes);
  Table table;
  table.columns = {{.key = "technique", .heading = "technique"},
                   {.key = "throughput_factor", .heading = "output", .kind = ColumnKind::number},
                   {.key = "user_speed_factor", .heading = "user", .kind = ColumnKind::number},
                   {.key = "first_token_factor", .heading = "first token", .kind = ColumnKind::number},
                   {.key = "sequences_factor", .heading = "sequences", .kind = ColumnKind::number},
                   {.key = "quoted", .heading = "people quote"}};
  for (const TechniqueGain& gain : gains) {
    std::string quoted;
    for (const QuotedGain& q : quotes) {
      if (q.technique != gain.id) continue;
      quoted += fmt::format("{}{} {} [{}]", quoted.empty() ? "" : ", ", range_text(q), q.of, sources.number(q));
    }
    table.rows.push_back({Cell(gain.id), factor(gain.throughput), factor(gain.user_speed), factor(gain.first_token),
                          factor(gain.sequences), quoted.empty() ? Cell() : Cell(quoted)});
  }
  return table;
}

Document techniques_page(const InferenceAnswer& plain, std::span<const TechniqueGain> gains,
                         std::span<const QuotedGain> quotes) {
  Document page;
  page.title = fmt::format("{} on {} · {}", plain.query.model, deployment_text(plain), load_text(plain.query.load));
  page.blocks.emplace_back(Paragraph{fmt::format(
      "Without any of them: {} tok/s of output, {} tok/s for a user, first token after {}, room for {} "
      "sequences. The factors are over that; 1 is no gain.",
      format_number(plain.outcome.estimate.output_tokens_per_s.mid), format_number(per_user(plain).mid),
      format(Seconds(plain.outcome.estimate.ttft_s.mid)), format_number(plain.outcome.estimate.max_batch, 6))});
  page.blocks.emplace_back(techniques_table(gains, quotes));
  Table notes;
  notes.title = "What each is here";
  notes.headings = false;
  notes.columns = {{.key = "technique", .heading = "technique"},
                   {.key = "what", .heading = "what", .overflow = Overflow::wrap}};
  for (const TechniqueGain& gain : gains) {
    notes.rows.push_back(
        {Cell(gain.id), Cell(gain.remark.empty() ? gain.what : fmt::format("{}: {}", gain.what, gain.remark))});
  }
  page.blocks.emplace_back(std::move(notes));
  page.blocks.emplace_back(Sources(quotes).table());
  add_assumptions(page, plain.assumptions);
  return page;
}

Json techniques_json(const InferenceAnswer& plain, std::span<const TechniqueGain> gains,
                     std::span<const QuotedGain> quotes) {
  Json list = Json::array();
  for (const TechniqueGain& gain : gains) {
    Json quoted = Json::array();
    for (const QuotedGain& q : quotes) {
      if (q.technique != gain.id) continue;
      quoted.push(Json::object()
                      .set("low", q.low)
                      .set("high", q.high)
                      .set("of", q.of)
                      .set("title", q.title)
                      .set("where", q.where)
                      .set("date", q.date));
    }
    list.push(Json::object()
                  .set("technique", gain.id)
                  .set("what", gain.what)
                  .set("throughput_factor", optional_json(gain.throughput))
                  .set("user_speed_factor", optional_json(gain.user_speed))
                  .set("first_token_factor", optional_json(gain.first_token))
                  .set("sequences_factor", optional_json(gain.sequences))
                  .set("remark", gain.remark.empty() ? Json() : Json(gain.remark))
                  .set("quoted", std::move(quoted)));
  }
  Json json = Json::object();
  json.set("schema", kEstimateSchema).set("kind", "techniques");
  return json.set("plain", inference_json(plain, {})).set("techniques", std::move(list));
}

}  // namespace ridge::report
