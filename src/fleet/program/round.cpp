// From a solution without whole numbers, or by other bands, to a program with whole numbers fixed near it.
#include <algorithm>
#include <cmath>
#include <limits>

#include "fleet/program/program.hpp"
#include "fleet/program/stocks.hpp"

namespace ridge::fleet {

std::vector<int> Program::kinds_of(const std::vector<double>& x) const {
  std::vector<int> kinds(job_kinds_.size(), -1);
  for (std::size_t j = 0; j < job_kinds_.size(); ++j) {
    if (problem_.jobs[j].mixed) continue;
    std::size_t best = 0;
    const auto share = [&](std::size_t r) { return x[static_cast<std::size_t>(job_kinds_[j][r])]; };
    for (std::size_t r = 1; r < job_kinds_[j].size(); ++r) best = share(r) > share(best) + 1e-9 ? r : best;
    kinds[j] = static_cast<int>(best);
  }
  return kinds;
}

void Program::fix_kinds(LinearProgram& into, const std::vector<int>& kinds) const {
  for (std::size_t j = 0; j < job_kinds_.size(); ++j) {
    for (std::size_t r = 0; r < job_kinds_[j].size(); ++r)
      fix_column(into, job_kinds_[j][r], static_cast<int>(r) == kinds[j] ? 1 : 0);
  }
}

WholePlan Program::whole(const std::vector<double>& x) const {
  const auto values = [&](const Columns& columns) {
    std::vector<double> out;
    for (const int c : columns) out.push_back(c >= 0 ? std::round(x[static_cast<std::size_t>(c)]) : 0);
    return out;
  };
  WholePlan plan;
  for (const Columns& columns : begun_) plan.units.push_back(values(columns));
  for (const Held& held : held_) plan.replicas.push_back(values(held.replicas));
  plan.kinds = kinds_of(x);
  return plan;
}

std::vector<Place> Program::places() const {
  std::vector<Place> out;
  for (const Held& held : held_) out.push_back({held.option, held.pool});
  return out;
}

std::vector<double> Program::start_of(const WholePlan& plan) const {
  std::vector<double> x(static_cast<std::size_t>(linear_.columns()), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t i = 0; i < held_.size(); ++i) {
    for (std::size_t m = 0; m < held_[i].replicas.size(); ++m) {
      const double replicas = plan.replicas[i][m];
      x[static_cast<std::size_t>(held_[i].replicas[m])] = replicas;
      if (!held_[i].used.empty()) x[static_cast<std::size_t>(held_[i].used[m])] = replicas > 0 ? 1 : 0;
    }
  }
  return x;
}

LinearProgram Program::with_kinds_of(const std::vector<double>& x) const {
  LinearProgram out = linear_;
  fix_kinds(out, kinds_of(x));
  return out;
}

LinearProgram Program::rounded(const std::vector<double>& x) const {
  LinearProgram out = linear_;
  const auto value = [&](int column) { return x[static_cast<std::size_t>(column)]; };
  const auto of = [&](const Held& held) -> const Option& {
    return problem_.options[static_cast<std::size_t>(held.option)];
  };
  for (std::size_t s = 0; s < problem_.services.size(); ++s) {
    const Service& service = problem_.services[s];
    std::vector<const Held*> mine;
    for (const Held& held : held_) {
      if (of(held).service == static_cast<int>(s)) mine.push_back(&held);
    }
    if (mine.empty()) continue;
    const auto rents = [&](const Rented& r) {
      return problem_.options[static_cast<std::size_t>(r.option)].service == static_cast<int>(s);
    };
    const auto leaves = [&](const Outside& o) { return o.service == static_cast<int>(s); };
    const bool steady =
        std::none_of(rented_.begin(), rented_.end(), rents) && std::none_of(outside_.begin(), outside_.end(), leaves);
    for (int m = 0; m < problem_.months; ++m) {
      const auto at = static_cast<std::size_t>(m);
      const auto able = [&](const Held* h) { return value(h->replicas[at]) * of(*h).requests_per_s; };
      const Held* main = mine.front();
      double need = 0;
      for (const Held* h : mine) {
        need += able(h);
        if (able(h) > able(main) + 1e-9) main = h;
      }
      double others = 0;
      double largest = of(*main).requests_per_s;
      for (const Held* h : mine) {
        if (h == main) continue;
        const double whole = std::floor(value(h->replicas[at]) + 1e-6);
        others += whole * of(*h).requests_per_s;
        if (whole > 0) largest = std::max(largest, of(*h).requests_per_s);
        fix_column(out, h->replicas[at], whole);
        if (service.spare > 0) fix_column(out, h->used[at], whole > 0 ? 1 : 0);
      }
      if (steady) {
        double peak = 0;
        for (int h = 0; h < problem_.hours; ++h) peak = std::max(peak, service.demand[problem_.at(m, h)]);
        need = peak + service.spare * largest;
      }
      const double each = of(*main).requests_per_s;
      const double whole = std::max(0.0, std::ceil((need - others) / each - 1e-6));
      const auto column = static_cast<std::size_t>(main->replicas[at]);
      fix_column(out, main->replicas[at], std::min(whole, out.high[column]));
      if (service.spare > 0) fix_column(out, main->used[at], whole > 0 ? 1 : 0);
    }
  }
  fix_kinds(out, kinds_of(x));
  return out;
}

LinearProgram Program::narrowed(const std::vector<const std::vector<double>*>& solutions) const {
  LinearProgram out = linear_;
  const auto keep_if_used = [&](const Columns& columns, const Columns& with) {
    for (const std::vector<double>* x : solutions) {
      for (const int c : columns) {
        if (c >= 0 && (*x)[static_cast<std::size_t>(c)] > 1e-6) return;
      }
    }
    for (const Columns* each : {&columns, &with}) {
      for (const int c : *each) fix_column(out, c, 0);
    }
  };
  for (std::size_t k = 0; k < begun_.size(); ++k) {
    if (!is_kept(problem_.stocks[k].way)) keep_if_used(begun_[k], at_hand_[k]);
  }
  for (const Held& held : held_) keep_if_used(held.replicas, held.routed);
  return out;
}

LinearProgram Program::fixed_to(const WholePlan& plan) const {
  LinearProgram out = linear_;
  for (std::size_t k = 0; k < begun_.size(); ++k) {
    for (std::size_t i = 0; i < begun_[k].size(); ++i) fix_column(out, begun_[k][i], plan.units[k][i]);
  }
  fix_kinds(out, plan.kinds);
  for (std::size_t s = 0; s < problem_.services.size(); ++s) {
    const Service& service = problem_.services[s];
    for (int m = 0; m < problem_.months; ++m) {
      const auto at = static_cast<std::size_t>(m);
      double stands = 0;
      double largest = 0;
      for (std::size_t i = 0; i < held_.size(); ++i) {
        const Option& option = problem_.options[static_cast<std::size_t>(held_[i].option)];
        if (option.service != static_cast<int>(s)) continue;
        const double replicas = plan.replicas[i][at];
        fix_column(out, held_[i].replicas[at], replicas);
        if (service.spare > 0) fix_column(out, held_[i].used[at], replicas > 0 ? 1 : 0);
        stands += replicas * option.requests_per_s;
        if (replicas > 0) largest = std::max(largest, option.requests_per_s);
      }
      fix_rents(out, static_cast<int>(s), m, stands, largest);
    }
  }
  return out;
}

}  // namespace ridge::fleet
