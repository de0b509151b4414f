// What a plan has to stand beyond its mean: the busiest hour, and replicas that are down just then.
//
//   Spares spares = *parse_spares("N+1");            // one replica may be down: a failure, or an update that rolls
//   spares.replicas(2, 8, 32);                       // 1, of replicas of two devices in servers of 8 and racks of 32
//   TrafficShape day = *parse_traffic("hour,rate\n0,20\n...", "day.csv");
//   day.peak();                                      // 2.1: the busiest part over the mean
//   MonthlyBill bill = month_of({12, 1, 2}, day, {2.9, 2.1, 1.4}, 120);     // cheapest way first
//
// Values; any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ridge/base/result.hpp"

namespace ridge {

/// What may be down at the busiest time without a limit being broken.
struct Spares {
  enum class Unit : std::uint8_t { replica, node, rack };
  Unit unit = Unit::replica;
  int count = 0;    ///< of them; 0 = nothing
  int rolling = 0;  ///< replicas that an update restarts at a time, besides

  [[nodiscard]] bool any() const { return count > 0 || rolling > 0; }
  /// Replicas that go down with them: a server takes all replicas that stand in it along, and the whole of one that is
  /// larger than it. Those of an update come on top: it does not wait for a repair.
  [[nodiscard]] int replicas(int gpus_per_replica, int gpus_per_node, int gpus_per_rack) const;
  /// "N+1", "a node", "a rack"; "" for none. Without the update.
  [[nodiscard]] std::string text() const;
};
/// "N+1", "N+2", "2", "none", "node", "rack". Refuses (bad_input) other words.
Result<Spares> parse_spares(std::string_view text);

/// "3x", "3", "300%": how many times the mean the busiest time has. Refuses (bad_input) less than 1 and more than 1000.
Result<double> parse_peak(std::string_view text);

/// How requests come over a day or a week: means of equally long parts.
struct TrafficShape {
  std::string name;
  std::vector<double> parts;  ///< over their mean
  double part_hours = 1;
  double mean_rate = 0;  ///< requests per second, where the file says so; 0 = it has no unit

  /// The busiest part over the mean.
  [[nodiscard]] double peak() const;
  [[nodiscard]] double hours() const { return part_hours * static_cast<double>(parts.size()); }
};

/// A table of two columns: `hour` (0, 1, ..., from the start, evenly spaced) and `requests_per_s` (the rate itself) or
/// `share` (of any unit). Refuses (bad_input, file:line) other columns, gaps, negative or absurd numbers, fewer than
/// two parts, more than kMostTrafficParts, and traffic that is nothing at all.
Result<TrafficShape> parse_traffic(std::string csv, const std::string& file);
inline constexpr std::size_t kMostTrafficParts = 10080;  ///< the minutes of a week

/// Replicas of a plan that is sized for the busiest time.
struct FleetSize {
  int replicas = 1;
  int spares = 0;  ///< of them
  int gpus_per_replica = 1;
};

/// Dollars of a GPU-hour by the way it is had; empty where nobody quotes one.
struct CapacityPrices {
  std::optional<double> on_demand, reserved;
  std::optional<double> spot;  ///< over the share of it that is kept
};

struct MonthlyWay {
  std::string text;  ///< "6 replicas reserved, the rest on demand as traffic comes"
  double usd = 0;    ///< of a month
  double gpu_hours = 0;
};

inline constexpr double kHoursAMonth = 730;

struct MonthlyBill {
  std::vector<MonthlyWay> ways;  ///< cheapest first; empty if nobody quotes a price
  std::vector<int> replicas;     ///< by part of the traffic
  double gpu_hours = 0;          ///< of the fleet that follows the traffic
  double year_usd = 0;           ///< of twelve months that grow, each in its cheapest way; 0 if nothing is known
  int replicas_in_a_year = 0;
  /// Simulated over the steepest climb, engines started by the load: share of the requests within each limit, and the
  /// engines started; empty if nothing was simulated.
  std::optional<double> held_scaled;
  double cold_starts = 0;
};

/// What capacity costs in a month: all of it all the time, or as traffic comes, with a base that is reserved. Replicas
/// of a part are those of the peak by its share of it, and the spares; each is there a cold start before it is needed.
[[nodiscard]] MonthlyBill month_of(const FleetSize& fleet, const TrafficShape& shape, const CapacityPrices& prices,
                                   double cold_start_s);

}  // namespace ridge
