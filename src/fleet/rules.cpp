// One rule of a problem changed or dropped.
#include <fmt/format.h>

#include <algorithm>

#include "fleet/program/solver.hpp"
#include "ridge/fleet/fleet.hpp"

namespace ridge::fleet {

namespace {

constexpr double kPlenty = 1e12;

void scale_demand(Service& service, double times) {
  for (double& d : service.demand) d *= times;
}

}  // namespace

std::string_view name(Way way) {
  static constexpr std::string_view kNames[] = {"owned", "extend", "buy", "lease", "reserved", "on demand", "spot"};
  return kNames[static_cast<std::size_t>(way)];
}

std::string Problem::month_name(int month) const {
  const int first = std::stoi(start.substr(0, 4)) * 12 + std::stoi(start.substr(5, 2)) - 1;
  return fmt::format("{:04d}-{:02d}", (first + month) / 12, (first + month) % 12 + 1);
}

Problem with_amount(const Problem& problem, int position, double amount) {
  Problem out = problem;
  Rule& rule = out.rules[static_cast<std::size_t>(position)];
  const auto index = static_cast<std::size_t>(rule.index);
  switch (rule.kind) {
    case RuleKind::demand:
      scale_demand(out.services[index], rule.amount > 0 ? amount / rule.amount : 0);
      break;
    case RuleKind::spare:
      out.services[index].spare = static_cast<int>(amount);
      break;
    case RuleKind::residency:
      out.services[index].allowed.assign(out.sites.size(), true);
      for (Api& api : out.apis) {
        if (api.service == rule.index) api.allowed = true;
      }
      break;
    case RuleKind::deadline:
      // In GPU-hours of work: so much less of the job.
      for (JobRate& rate : out.jobs[index].rates)
        rate.share_per_gpu_hour *= amount > 0 ? rule.amount / amount : kPlenty;
      break;
    case RuleKind::power:
      out.sites[index].power_w = amount * 1000;
      break;
    case RuleKind::racks:
      out.sites[index].racks = amount;
      break;
    case RuleKind::count:
      out.stocks[index].most = amount;
      break;
    case RuleKind::budget:
      out.budgets[index].usd = amount;
      break;
    case RuleKind::vendor_share:
      out.vendor_share = amount / 100;
      break;
    case RuleKind::forbidden:
      for (Pool& pool : out.pools) {
        pool.forbidden_too.erase(std::remove(pool.forbidden_too.begin(), pool.forbidden_too.end(), position),
                                 pool.forbidden_too.end());
        if (pool.forbidden != position) continue;
        pool.forbidden = pool.forbidden_too.empty() ? -1 : pool.forbidden_too.front();
        if (pool.forbidden >= 0) pool.forbidden_too.erase(pool.forbidden_too.begin());
      }
      break;
  }
  rule.amount = amount;
  return out;
}

Problem without(const Problem& problem, int position) {
  const Rule& rule = problem.rules[static_cast<std::size_t>(position)];
  switch (rule.kind) {
    case RuleKind::demand:
    case RuleKind::spare:
    case RuleKind::deadline:
    case RuleKind::residency:
    case RuleKind::forbidden:
      return with_amount(problem, position, 0);
    case RuleKind::power:
    case RuleKind::racks: {
      Problem out = with_amount(problem, position, 0);  // 0 is no limit
      return out;
    }
    case RuleKind::count: {
      // As many as all services and jobs could ever take.
      double gpus = 0;
      for (const Option& option : problem.options) {
        const Service& service = problem.services[static_cast<std::size_t>(option.service)];
        const double most = *std::max_element(service.demand.begin(), service.demand.end());
        gpus = std::max(gpus, (most / option.requests_per_s + 1 + service.spare) * option.gpus);
      }
      const Stock& stock = problem.stocks[static_cast<std::size_t>(rule.index)];
      return with_amount(problem, position,
                         std::max(4 * stock.most, 2 * gpus * static_cast<double>(problem.services.size() + 1)));
    }
    case RuleKind::budget:
      return with_amount(problem, position, kPlenty);
    case RuleKind::vendor_share:
      return with_amount(problem, position, 100);
  }
  return problem;
}

}  // namespace ridge::fleet
