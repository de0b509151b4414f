// From a solution without whole numbers, or by other bands, to a program with whole numbers fixed near it.
#include <algorithm>
#include <cmath>

#include "fleet/program.hpp"
#include "fleet/stocks.hpp"

namespace ridge::fleet {

namespace {

void fix_column(LinearProgram& program, int column, double value) {
  if (column < 0) return;
  const auto c = static_cast<std::size_t>(column);
  program.low[c] = program.high[c] = value;
}

}  // namespace

void Program::fix_kinds(LinearProgram& into, const Program& other, const std::vector<double>& x) const {
  for (std::size_t j = 0; j < job_kinds_.size(); ++j) {
    if (problem_.jobs[j].mixed) continue;
    std::size_t best = 0;
    const auto share = [&](std::size_t r) { return x[static_cast<std::size_t>(other.job_kinds_[j][r])]; };
    for (std::size_t r = 1; r < job_kinds_[j].size(); ++r) best = share(r) > share(best) + 1e-9 ? r : best;
    for (std::size_t r = 0; r < job_kinds_[j].size(); ++r) fix_column(into, job_kinds_[j][r], r == best ? 1 : 0);
  }
}

LinearProgram Program::with_kinds_of(const std::vector<double>& x) const {
  LinearProgram out = linear_;
  fix_kinds(out, *this, x);
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
  fix_kinds(out, *this, x);
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

LinearProgram Program::fixed_to(const Program& other, const std::vector<double>& x) const {
  LinearProgram out = linear_;
  const auto value = [&](int from) { return from >= 0 ? std::round(x[static_cast<std::size_t>(from)]) : 0; };
  for (std::size_t k = 0; k < begun_.size(); ++k) {
    for (std::size_t i = 0; i < begun_[k].size(); ++i) fix_column(out, begun_[k][i], value(other.begun_[k][i]));
  }
  fix_kinds(out, other, x);
  const auto of = [&](int option) -> const Option& { return problem_.options[static_cast<std::size_t>(option)]; };
  for (std::size_t s = 0; s < problem_.services.size(); ++s) {
    const Service& service = problem_.services[s];
    double outside = kNoLimit;  // the cheapest way to have a request served elsewhere, or lost
    for (const Api& api : problem_.apis) {
      if (api.service == static_cast<int>(s) && api.allowed && api.most == 0)
        outside = std::min(outside, api.usd_per_request);
    }
    if (service.value) outside = std::min(outside, *service.value);
    for (int m = 0; m < problem_.months; ++m) {
      const auto at = static_cast<std::size_t>(m);
      double stands = 0;
      double largest = 0;
      for (std::size_t i = 0; i < held_.size(); ++i) {
        if (of(held_[i].option).service != static_cast<int>(s)) continue;
        const double replicas = value(other.held_[i].replicas[at]);
        fix_column(out, held_[i].replicas[at], replicas);
        if (service.spare > 0) fix_column(out, held_[i].used[at], replicas > 0 ? 1 : 0);
        stands += replicas * of(held_[i].option).requests_per_s;
        if (replicas > 0) largest = std::max(largest, of(held_[i].option).requests_per_s);
      }
      // One kind for the month, so that what may fail is known: the one that fills all hours for least.
      const auto wanted = [&](int h, double each) {
        const double short_of = service.demand[problem_.at(m, h)] + service.spare * largest - stands;
        if (short_of <= 1e-9) return 0.0;
        const double need = service.demand[problem_.at(m, h)] + service.spare * std::max(largest, each) - stands;
        return std::ceil(need / each - 1e-9);
      };
      double least = kNoLimit;
      std::size_t best = rented_.size();
      for (std::size_t i = 0; i < rented_.size(); ++i) {
        const Option& option = of(rented_[i].option);
        if (option.service != static_cast<int>(s)) continue;
        for (int h = 0; h < problem_.hours; ++h) fix_column(out, rented_[i].replicas[step(m, h)], 0);
        if (service.spare > 0) fix_column(out, rented_[i].used[at], 0);
        const Stock& stock = problem_.stocks[static_cast<std::size_t>(rented_[i].stock)];
        if (m < stock.first || m > stock.last) continue;
        double usd = 0;
        double most = 0;
        for (int h = 0; h < problem_.hours; ++h) {
          const double replicas = wanted(h, option.requests_per_s);
          most = std::max(most, replicas * option.gpus);
          usd += replicas * option.gpus * trended(stock.usd_hour, stock, m);
        }
        if (usd < least && most <= stock.most) {
          least = usd;
          best = i;
        }
      }
      if (best == rented_.size() || !(least > 0)) continue;
      const Option& option = of(rented_[best].option);
      const Stock& stock = problem_.stocks[static_cast<std::size_t>(rented_[best].stock)];
      if (service.spare > 0) fix_column(out, rented_[best].used[at], 1);
      for (int h = 0; h < problem_.hours; ++h) {
        const double replicas = wanted(h, option.requests_per_s);
        const double short_of =
            service.demand[problem_.at(m, h)] + service.spare * std::max(largest, option.requests_per_s) - stands;
        const double usd = replicas * option.gpus * trended(stock.usd_hour, stock, m);
        if (outside * 3600 * std::max(0.0, short_of) < usd) continue;
        fix_column(out, rented_[best].replicas[step(m, h)],
                   short_of > 1e-9 ? std::ceil(short_of / option.requests_per_s - 1e-9) : 0);
      }
    }
  }
  return out;
}

}  // namespace ridge::fleet
