// ridge facility: from a plan, or a number of devices, to the site that holds it.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/session/wrong.hpp"
#include "app/cli/verbs.hpp"
#include "report/site/facility_report.hpp"
#include "ridge/base/text.hpp"

namespace ridge::cli {

namespace {

struct FacilityArguments {
  EstimateFlags flags;
  Flags own{ask::facility_fields()};
};

class FacilityQuestioner {
 public:
  FacilityQuestioner(const FacilityArguments& arguments, const std::string& as_of) : a_(arguments), as_of_(as_of) {}

  Result<FacilityQuestion> run() {
    if (const Status s = a_.own.read_into(q_); !s) return s.error();
    for (const auto step : {&FacilityQuestioner::names, &FacilityQuestioner::plan}) {
      if (const Status s = (this->*step)(); !s) return s.error();
    }
    return std::move(q_);
  }

 private:
  Status names() {
    q_.system = a_.flags.value("--system");
    q_.device = a_.flags.value("--device");
    if (q_.system.empty() && q_.device.empty()) {
      return wrong("--system", "name a system, for example --system dgx-h100; `ridge show systems` lists them");
    }
    return cli::take(a_.flags.whole("--gpus", 0, 1, 1'000'000), q_.gpus);
  }

  Status plan() {
    if (!a_.flags.given("--model")) return {};
    if (a_.own.value("--kind") == "serve") {
      q_.serving = a_.flags.value("--model");
      return {};
    }
    EstimateFlags flags = a_.flags;
    if (!flags.given("--gpus") && q_.nodes > 0) {
      // The system says how many; any number will do until it is known.
      flags.set("--gpus", "1");
    }
    const Result<TrainingQuestion> question = training_question(flags, as_of_);
    if (!question) return question.error();
    q_.training = question->query;
    q_.freedom = question->freedom;
    return {};
  }

  const FacilityArguments& a_;
  const std::string& as_of_;
  FacilityQuestion q_;
};

Result<int> run_facility(Session& session, const FacilityArguments& arguments) {
  if (const Status s = arguments.flags.valid(session); !s) return s.error();
  Result<WhatIfSubjects> subjects = what_if_subjects(arguments.flags);
  if (!subjects) return subjects.error();
  session.about(*std::move(subjects));
  const Result<FacilityQuestion> question = FacilityQuestioner(arguments, session.software_date()).run();
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<const FacilityData*> data = session.facility();
  if (!data) return data.error();
  Result<FacilityAnswer> answer = ridge::answer(*question, *knowledge, **data);
  if (!answer) return answer.error();
  for (const std::string& setting : session.options().settings) answer->assumptions.push_back("what if " + setting);
  if (arguments.own.given("--svg")) {
    const Status s = session.files().write(arguments.own.value("--svg"), report::elevation_svg(*answer, **data));
    if (!s) return s.error();
  }
  if (session.form() == Form::json) {
    session.print(report::facility_json(*answer).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::facility_table(*answer)));
  } else {
    session.print(report::facility_page(*answer, **data));
  }
  const bool failed = std::any_of(answer->checklist.begin(), answer->checklist.end(),
                                  [](const ChecklistLine& line) { return line.verdict == SiteVerdict::fail; });
  return failed ? kCheckFailed : kFine;
}

Action declare_facility(Options& options) {
  auto a = std::make_shared<FacilityArguments>();
  a->flags.declare(options, ask::kSite);
  a->own.declare(options, ask::kFacility);
  return [a](Session& session) { return run_facility(session, *a); };
}

}  // namespace

Verb facility_verb() {
  return {
      "facility", "from a plan to a site: network, storage, racks, power, cooling",
      "Counts switches and cables of the network between nodes, says what a training plan needs of it, what storage "
      "has to hold and carry, how many systems go into a rack under its limits of power, height and weight, what "
      "cooling takes the heat, and fills in a checklist.\n\n"
      "What the site offers is optional: without it the checklist says what is needed. Without --gpus, --racks or "
      "--site-power turn into the number of devices that fit. A line of the checklist that fails ends with exit code "
      "3.",
      "ridge facility --system dgx-h100 --nodes 127 --rack-power 42kW\n"
      "ridge facility --system dgx-h100 --gpus 1024 --model llama3.1-70b --tp 8 --global-batch 1024 --dataset 60TB "
      "--rack-power 42kW --storage-write 100GB/s\n"
      "ridge facility --system rack-gb200-nvl72 --racks 8 --cooling direct-liquid --json",
      declare_facility};
}

}  // namespace ridge::cli
