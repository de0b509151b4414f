// One estate, many models, a day of traffic: what runs where, what to buy, lease, extend or retire, and when.
//
//   Result<fleet::Estate> estate = fleet::read_estate(text, "estate.toml", knowledge, economics, policy);
//   Result<fleet::Problem> problem = fleet::rate_options(*estate, knowledge, &economics);
//   fleet::Answer answer = fleet::plan_fleet(*problem, {.seconds = 60});
//   answer.found; answer.usd; answer.gap;     // nothing costs less than usd x (1 - gap)
//   answer.clash;                             // or the rules that cannot hold together, and the least change
//
// Time is months, each with the hours of one typical day. A service's replicas are placed for a month on devices that
// are held (owned, bought, leased, reserved), or hour by hour on devices rented on demand; requests are routed by the
// hour over all of them, over APIs, or dropped where the file says what a request is worth. Training takes what serving
// leaves free in an hour, and spot capacity. Whole numbers: units bought or leased, replicas placed or rented, the kind
// of device a job takes. Requests and the devices a job uses in an hour are means over the days of a month.
//
// Cost is what the months bear: a purchase counts by its monthly annuity, a lease by its months within the plan.
// Budgets are about cash: a purchase counts in the month it is made. Power and racks are those of everything that
// stands on a site, at full load. A vendor's share is of the devices held. All of it is linear; solver.hpp says what
// solves it.
//
// Everything but read_estate() and rate_options() works on plain numbers and knows no catalogue. Pure but for the clock
// behind `seconds`; any thread. The same problem gives the same answer unless time ends the search (`stopped`).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ridge/base/patience.hpp"
#include "ridge/base/result.hpp"
#include "ridge/search/plan.hpp"

namespace ridge::search {
class Policy;
}

namespace ridge::fleet {

inline constexpr int kHours = 24;
inline constexpr int kMostMonths = 120;

// --- the problem: plain numbers -------------------------------------------------------------------------------------

/// What a rule limits. Each can be dropped or loosened alone, to find out which of them clash and what each costs.
enum class RuleKind : std::uint8_t {
  demand,        ///< a service's requests
  spare,         ///< a service survives the loss of replicas
  residency,     ///< a service stays in some places
  deadline,      ///< a job is done by then
  power,         ///< of a site
  racks,         ///< of a site
  count,         ///< devices of a stock: owned, or on offer at most
  budget,        ///< cash of some months
  vendor_share,  ///< of the devices held
  forbidden,     ///< origin, vendor, export, cooling: pools that nothing may stand in
};
struct Rule {
  RuleKind kind = RuleKind::demand;
  int index = 0;      ///< of the service, site, stock, job or budget; of a `forbidden`, its own number
  std::string text;   ///< "frankfurt has 600 kW"
  std::string where;  ///< "estate.toml:12:9"
  double amount = 0;  ///< the limit, in `unit`
  std::string unit;   ///< "kW", "racks", "GPUs", "$", "%", "requests/s", "GPU-hours"
};

struct Site {
  std::string id, country, region;
  double power_w = 0;  ///< at the meter, 0 = no limit
  double racks = 0;    ///< 0 = no limit
  double pue = 1;
  bool energy_paid = true;          ///< false: the price of its devices includes it
  std::vector<double> usd_per_kwh;  ///< by hour of the day
  double co2_kg_per_kwh = 0;
  int power_rule = -1, racks_rule = -1;
};

/// Devices of one kind on one site.
struct Pool {
  std::string device, vendor;
  int site = 0;
  double watts = 0;  ///< of one device with its share of the host, at full load
  double idle_watts = 0;
  double racks = 0;                     ///< that one device takes
  int forbidden = -1;                   ///< by this rule
  std::vector<int> forbidden_too = {};  ///< and by these
};

enum class Way : std::uint8_t { owned, extend, buy, lease, reserved, on_demand, spot };
[[nodiscard]] std::string_view name(Way way);

/// Devices that are there or can be had.
struct Stock {
  Way way = Way::owned;
  int pool = 0;
  std::string name;         ///< "lease 12 months, CoreWeave"
  int unit = 1;             ///< devices that come together
  double most = 0;          ///< devices in all (on demand and spot: at once)
  int first = 0, last = 0;  ///< months in which it can begin; of what is owned or extended, in which it can be kept
  int term = 0;             ///< months that it is held once begun; 0 = to the end
  double usd_once = 0;      ///< cash per device when it begins
  double usd_month = 0;     ///< cash per device and month held
  double charge_month = 0;  ///< what a month bears of usd_once
  double usd_hour = 0;      ///< per device and hour used
  double trend = 0;         ///< share by which prices of what begins change from month to month
  double kept = 1;          ///< of the hours paid, those that work is not lost in
  int follows = -1;         ///< no more than was kept of that stock in its last month
  int rule = -1;
};

struct Service {
  std::string id, model;
  std::vector<double> demand;   ///< requests/s: [month x hours + hour]
  double output_tokens = 1;     ///< of a request
  int spare = 0;                ///< replicas, the largest in use, that may fail at any time
  std::optional<double> value;  ///< dollars a request is worth: dropped if serving it costs more
  bool spot = false;            ///< may run on spot capacity
  std::vector<bool> allowed;    ///< by site
  int demand_rule = -1, spare_rule = -1, residency_rule = -1;
};

/// A way to serve: one column of the search.
struct Option {
  int service = 0;
  std::string device;
  int gpus = 1;                         ///< of one replica
  double requests_per_s = 0;            ///< one replica does within the limits, at the confidence asked for
  double watts = 0;                     ///< of one replica's devices and hosts at full load
  std::string layout;                   ///< "TP2, fp8"
  double slowness = 1;                  ///< steps may take so many times what is predicted
  std::optional<InferenceQuery> query;  ///< of one replica; nothing: it cannot be simulated
};

struct Api {
  int service = 0;
  std::string name;
  double usd_per_request = 0;
  double most = 0;  ///< requests/s, 0 = no limit
  bool allowed = true;
};

struct JobRate {
  std::string device;
  double share_per_gpu_hour = 0;  ///< of the job
  double watts = 0;               ///< of one device with its host
  std::string basis;
};
struct Job {
  std::string id;
  int first = 0, last = 0;  ///< months
  double most_gpus = 0;     ///< at once, 0 = no limit
  bool spot = false;
  bool mixed = false;  ///< kinds of devices may work together
  std::vector<JobRate> rates;
  std::vector<bool> allowed;
  int rule = -1;
};

struct Budget {
  int first = 0, last = 0;
  double usd = 0;
  int rule = -1;
};

struct Problem {
  int months = 1;
  int hours = kHours;
  double days = 730.0 / 24;  ///< of a month
  std::string start;         ///< "2026-12"
  double confidence = 0.8;
  std::vector<Site> sites;
  std::vector<Pool> pools;
  std::vector<Stock> stocks;
  std::vector<Service> services;
  std::vector<Option> options;
  std::vector<Api> apis;
  std::vector<Job> jobs;
  std::vector<Budget> budgets;
  double vendor_share = 1;
  int vendor_share_rule = -1;
  std::vector<Rule> rules;
  std::vector<std::string> assumptions;

  [[nodiscard]] std::size_t at(int month, int hour) const { return static_cast<std::size_t>(month * hours + hour); }
  [[nodiscard]] double hours_of_month() const { return days * hours; }
  /// "2027-03".
  [[nodiscard]] std::string month_name(int month) const;
};

// --- the answer -----------------------------------------------------------------------------------------------------

struct Holding {
  int stock = 0;
  std::vector<double> begun;  ///< devices, by month
  std::vector<double> held;   ///< devices, by month
};
/// Replicas of an option: on a pool by month, or on a stock on demand by hour.
struct Placement {
  int option = 0;
  int pool = 0;
  int stock = -1;                ///< on demand or spot, or -1
  std::vector<double> replicas;  ///< by month, or [month x hours + hour]
  std::vector<double> routed;    ///< requests/s: [month x hours + hour]
};
/// Requests that no replica of ours serves.
struct Elsewhere {
  int service = 0;
  int api = -1;                ///< -1: dropped
  std::vector<double> routed;  ///< requests/s: [month x hours + hour]
};
struct JobUse {
  int job = 0;
  int pool = 0;
  int stock = -1;            ///< on demand or spot, or -1
  std::vector<double> gpus;  ///< [month x hours + hour]
};

/// Money, energy and carbon of one month.
struct MonthBill {
  double cash = 0;  ///< purchases when they are made
  double capital = 0, leases = 0, upkeep = 0, rents = 0, energy = 0, apis = 0, lost = 0;
  double kwh = 0, co2_kg = 0;
  double peak_w = 0;  ///< of all that stands on the sites, at full load, at the meter
  [[nodiscard]] double usd() const { return capital + leases + upkeep + rents + energy + apis + lost; }
};

/// What one more unit of a limit is worth.
struct Marginal {
  int rule = 0;
  double more = 0;       ///< in the rule's unit
  double usd_month = 0;  ///< less, on average of the months
  bool relaxed = false;  ///< by the program without whole numbers; otherwise solved again in full
};

/// The same estate without something that the answer takes.
struct Without {
  std::vector<int> stocks;  ///< one, or all of one way where the answer takes several
  double usd = 0;           ///< of all months; infinite: nothing serves all without them
  bool relaxed = false;     ///< by the program without whole numbers; otherwise solved again in full
};

/// Rules that cannot hold together: without any one of them, the others can.
struct Clash {
  struct Change {
    int rule = 0;
    double to = 0;  ///< the amount at which all holds, in the rule's unit
    double by = 0;  ///< the share by which it changes
  };
  std::vector<int> rules;
  std::vector<Change> changes;  ///< of one rule alone, smallest first; a rule that no amount helps is not here
  std::vector<int> together;    ///< where no change of one rule leaves anything to be done: to be given up together
  bool minimal = true;          ///< false: time was over before it was shown
};

struct Answer {
  bool found = false;
  bool stopped = false;    ///< by time or Ctrl-C: the best so far
  double usd = 0;          ///< of all months
  double bound = 0;        ///< nothing costs less
  double gap = 0;          ///< (usd - bound) / usd
  int bands = 0;           ///< spans of a day that the choice was made by; hours if all of them
  double aggregation = 0;  ///< share of the cost by which the choice by bands may be dearer than by hours
  std::vector<Holding> holdings;
  std::vector<Placement> placements;
  std::vector<Elsewhere> elsewhere;
  std::vector<JobUse> jobs;
  std::vector<MonthBill> months;
  std::vector<Marginal> marginals;
  std::vector<Without> without;  ///< dearest last
  std::optional<Clash> clash;
  double commitments = 0;  ///< dollars of leases after the last month
  double seconds = 0;      ///< that it took
};

struct PlanOptions {
  double seconds = 60;
  double gap = 0.01;
  bool marginals = true;
  int bands = 0;  ///< of a day; 0 = as many as can be solved
  /// An answer to the same problem when its ways to serve were rated as high as now or higher: where the search starts,
  /// and nothing costs less than its bound.
  const Answer* before = nullptr;
  Patience patience = {};
};
[[nodiscard]] Answer plan_fleet(const Problem& problem, const PlanOptions& options);
/// Fills `marginals`: each limit is raised by one more of what people add at once (a rack's power, a server, 5 % of a
/// budget, 5 points of a share), and the problem solved again; without whole numbers where it took long.
void value_limits(const Problem& problem, Answer& answer, const PlanOptions& options);

/// Fills `without`: what all would cost if it had to do without each of the stocks that it takes.
void value_choices(const Problem& problem, Answer& answer, const PlanOptions& options);

/// Which rules clash, of a problem that has no solution.
[[nodiscard]] Clash find_clash(const Problem& problem, const PlanOptions& options);

/// The same problem without a rule, or with its amount changed (in the rule's unit; forbidden and residency: dropped).
[[nodiscard]] Problem without(const Problem& problem, int rule);
[[nodiscard]] Problem with_amount(const Problem& problem, int rule, double amount);

// --- from a file to a problem ---------------------------------------------------------------------------------------

/// A service as the file asks for it.
struct AskedService {
  double isl = 1000, osl = 250, ttft_s = 0, tpot_s = 0, prefix_hit = 0;
  std::string engine = "vllm";
  std::vector<std::string> devices;  ///< only these; empty = all
  std::string where;
};
struct AskedJob {
  std::string model, task = "pretrain", engine = "megatron";
  double tokens = 0;
  int gpus = 64;                                          ///< that its speed is looked up at
  std::vector<std::pair<std::string, double>> gpu_hours;  ///< by device, as stated
  std::string where;
};
/// The file, checked; `problem` lacks options and rates of jobs.
struct Estate {
  std::string file;
  std::string date;
  Problem problem;
  std::vector<AskedService> services;
  std::vector<AskedJob> jobs;
};

/// docs/fleet.md says how it is written. Refuses (bad_input, not_found), at file:line:column: unknown keys, words and
/// names, amounts without a unit or of another dimension, what is negative, dates outside of the plan. A model may be
/// the path of a config.json where whoever wrote the text `may_name_files`.
Result<Estate> read_estate(const std::string& text, const std::string& file, const Knowledge& knowledge,
                           const EconomicsData& economics, const search::Policy& policy, const std::string& as_of = {},
                           bool may_name_files = true);

/// Asks the search for the best way to serve each model and to run each job on each kind of device that is there or on
/// offer. Refuses (infeasible) a service or job that no kind can do, with what comes nearest, and (refused) to guess
/// once patience is over before all is known.
Result<Problem> rate_options(const Estate& estate, const Knowledge& knowledge, const EconomicsData* economics,
                             const Patience& patience = {});

/// The same in pieces that know nothing of each other, for whoever shares them out: services, then jobs.
struct Rated {
  std::vector<Option> options;
  std::vector<JobRate> rates;
  std::optional<Error> error = {};
};
[[nodiscard]] int pieces_to_rate(const Estate& estate);
[[nodiscard]] Rated rate_piece(const Estate& estate, int piece, const Knowledge& knowledge,
                               const EconomicsData* economics, const Patience& patience = {});
/// All pieces in their order. Refuses what rate_options() refuses.
Result<Problem> put_together(const Estate& estate, std::vector<Rated> pieces);

// --- a day, request by request --------------------------------------------------------------------------------------

struct ReplayHour {
  int service = 0;
  int hour = 0;
  double rate = 0;  ///< requests/s on our devices
  double replicas = 0;
  double within = 1;  ///< share of the requests that hold every limit
  double ttft_p95_s = 0, tpot_p95_s = 0;
  double utilisation = 0;  ///< of what the replicas can do
};
struct Replay {
  int month = 0;
  std::vector<ReplayHour> hours;
  double requests = 0;  ///< simulated; what an earlier day has as well counts there
  bool holds = true;    ///< every hour: 95 % of the requests or more
};
/// A typical day of every month, simulated hour by hour at the slowness that the confidence asks for. Each request goes
/// to a pool at random, by the pool's share: arrivals by chance that are split by chance are by chance in each part, so
/// that unlike devices that serve together behave as each does alone with its share. Hours with as many replicas (a
/// dozen or more are as a dozen) and as much load for each are simulated once; loads are rounded up, by 1/64 where they
/// are high.
Result<std::vector<Replay>> replay(const Estate& estate, const Problem& problem, const Answer& answer,
                                   const Knowledge& knowledge, const Patience& patience = {});

/// An answer that was replayed.
struct Replayed {
  Problem problem;  ///< as it was solved: ways to serve that came too late are rated lower
  Answer answer;
  std::vector<Replay> days;  ///< by month; none where there is no answer, no service, or patience was over
  [[nodiscard]] bool holds() const;
};
/// Plans and replays; where a limit does not hold, rates lower and does both again, a few times.
/// No marginal values: value_limits() adds them.
Result<Replayed> plan_replayed(const Estate& estate, Problem problem, PlanOptions options, const Knowledge& knowledge,
                               const Patience& patience = {});

}  // namespace ridge::fleet
