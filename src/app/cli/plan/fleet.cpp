#include "app/cli/plan/fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <mutex>
#include <set>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/plan/fleet_ranks.hpp"
#include "app/cli/search/ranks.hpp"
#include "app/cli/session/report_file.hpp"
#include "economics/economics_data.hpp"
#include "fleet/program/solver.hpp"
#include "report/fleet/report.hpp"
#include "ridge/base/text.hpp"
#include "ridge/fleet/fleet.hpp"
#include "search/buyer/policy.hpp"

namespace ridge::cli {

namespace {

constexpr std::size_t kEstateLimit = 4'000'000;
constexpr double kSolverSeconds = 60;
constexpr double kSolverShare = 0.25;  ///< of a time limit: an estate is solved again where a replayed day was late
constexpr std::array<std::string_view, 3> kFleetFlags = {"--why", "--threads", "--html"};
constexpr std::string_view kPastedName = "estate.toml";

/// The estate and what messages call it: a file, or, of a program that asks, a text (call.hpp puts a space before it).
struct EstateText {
  std::string text, name;
};
Result<EstateText> estate_text(Session& session, const std::string& word) {
  if (word.starts_with(' ')) return EstateText{word.substr(1), std::string(kPastedName)};
  Result<std::string> text = session.files().read(word, kEstateLimit);
  if (!text) return text.error();
  return EstateText{*std::move(text), word};
}

Status are_of_estate(const std::vector<std::string>& devices, const fleet::Problem& problem) {
  std::set<std::string> known;
  for (const fleet::Pool& pool : problem.pools) known.insert(pool.device);
  for (const std::string& device : devices) {
    if (known.count(device) != 0) continue;
    return Error{ErrorCode::bad_input, "--why",
                 fmt::format("{} is not in this estate, which has {}; write an [[offer]] for it to see what it would "
                             "cost",
                             quoted(device), fmt::join(known, ", "))};
  }
  return {};
}

/// Says on a terminal which part of the work goes on, and how far it is. Of parts that look whether time is over, any
/// thread draws.
class Stages {
 public:
  explicit Stages(const Session& session) : session_(session) {}

  void show(const std::string& what, double share) {
    const std::lock_guard<std::mutex> mine(lock_);
    begin(what);
    progress_->show(share);
  }
  /// Patience of a part that ends within so many seconds; 0: nobody knows.
  [[nodiscard]] Patience patience(const std::string& what, double seconds) {
    return Patience([this, what, seconds] {
      const std::unique_lock<std::mutex> mine(lock_, std::try_to_lock);
      if (mine.owns_lock()) {
        begin(what);
        const std::chrono::duration<double> gone = std::chrono::steady_clock::now() - start_;
        progress_->show(seconds > 0 ? gone.count() / seconds : 0);
      }
      return session_.stopped();
    });
  }
  /// Wipes the line.
  void end() { progress_.reset(); }

 private:
  void begin(const std::string& what) {
    if (progress_ != nullptr && what == what_) return;
    progress_.reset();  // before the next one draws
    progress_ = std::make_unique<Progress>(what, session_.is_called() ? nullptr : stderr, session_.told());
    what_ = what;
    start_ = std::chrono::steady_clock::now();
  }

  const Session& session_;
  std::mutex lock_;
  std::string what_;
  std::unique_ptr<Progress> progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// fleet::rate_options(), with how many services and jobs are done.
Result<fleet::Problem> rate_here(const fleet::Estate& estate, const Knowledge& knowledge,
                                 const EconomicsData* economics, const Patience& patience, Stages& stages) {
  const int pieces = fleet::pieces_to_rate(estate);
  std::vector<fleet::Rated> rated;
  for (int piece = 0; piece < pieces; ++piece) {
    stages.show("rating devices for services and jobs", static_cast<double>(piece) / pieces);
    rated.push_back(fleet::rate_piece(estate, piece, knowledge, economics, patience));
    if (rated.back().error && patience.over()) return *rated.back().error;
  }
  return fleet::put_together(estate, std::move(rated));
}

}  // namespace

Result<int> plan_fleet(Session& session, const std::vector<std::string>& words, const PlanFlags& flags) {
  if (words.size() < 2)
    return Error{ErrorCode::bad_input, "", "say which estate: ridge plan fleet examples/fleet/mixed.toml"};
  const std::vector<std::string> asked_about(words.begin() + 2, words.end());
  if (!asked_about.empty() && !flags.given("--why")) {
    return Error{ErrorCode::bad_input, "",
                 fmt::format("nothing is done with {}; what a device of the estate would cost says ridge plan fleet {} "
                             "--why {}",
                             quoted(asked_about[0]), words[1], asked_about[0])};
  }
  for (const std::string_view flag : flags.names()) {
    const bool known = std::find(kFleetFlags.begin(), kFleetFlags.end(), flag) != kFleetFlags.end();
    if (flags.given(flag) && !known) {
      return Error{ErrorCode::bad_input, std::string(flag), "is for serve and train: the estate's file says it"};
    }
  }
  const Result<EstateText> text = estate_text(session, words[1]);
  if (!text) return text.error();
  session.catch_interrupts();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  const Result<const EconomicsData*> economics = session.economics();
  if (!economics) return economics.error();
  const Result<const search::Policy*> policy = session.policy();
  if (!policy) return policy.error();
  if (session.software_date() != session.price_date()) {
    return Error{ErrorCode::bad_input, "--software-as-of", "an estate has one date: say --as-of"};
  }
  const Result<fleet::Estate> estate = fleet::read_estate(text->text, text->name, *knowledge, **economics, **policy,
                                                          session.price_date(), session.may_name_files());
  if (!estate) return estate.error();
  if (const Status s = are_of_estate(asked_about, estate->problem); !s) return s.error();
  const auto start = std::chrono::steady_clock::now();
  Stages stages(session);
  const Result<std::unique_ptr<MpiRanks>> ranks = MpiRanks::join();
  if (!ranks) return ranks.error();
  Result<fleet::Problem> problem = *ranks ? rate_on_ranks(**ranks, *estate, *knowledge, *economics, session.patience())
                                          : rate_here(*estate, *knowledge, *economics, session.patience(), stages);
  if (*ranks && (*ranks)->rank() != 0) return kFine;  // the first one speaks
  if (!problem) return problem.error();
  fleet::PlanOptions options;
  options.seconds = kSolverSeconds;
  if (const auto limit = parse_quantity<Seconds>(session.options().time_limit)) {
    options.seconds = std::max(options.seconds, kSolverShare * limit->value());
  }
  options.patience = stages.patience("solving", options.seconds);
  Result<fleet::Replayed> planned = fleet::plan_replayed(*estate, *std::move(problem), options, *knowledge,
                                                         stages.patience("playing a day of each month", 0));
  if (!planned) return planned.error();
  fleet::Answer& answer = planned->answer;
  if (answer.found && !session.stopped()) {
    options.patience = stages.patience("solving with more of each limit, and without each choice", 2 * options.seconds);
    fleet::value_limits(planned->problem, answer, options);
    fleet::value_choices(planned->problem, answer, options);
  }
  stages.end();
  report::FleetView view{*estate, planned->problem,     answer,     planned->days, fleet::solver_name(),
                         0,       flags.given("--why"), asked_about};
  view.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (flags.given("--html")) {
    const report::Provenance provenance{{}, command_text(session)};
    const Status s = session.files().write(flags.value("--html"), report::fleet_html(view, provenance));
    if (!s) return s.error();
  }
  if (session.form() == Form::json) {
    session.print(report::fleet_json(view).text());
  } else if (session.form() == Form::csv) {
    session.print(to_csv(report::fleet_actions(view)));
  } else {
    session.print(report::fleet_page(view));
  }
  return answer.found ? kFine : kRefused;
}

}  // namespace ridge::cli
