// Lengths of answers: the cut log-normal whose mean is as said, shares as quantiles, and what they weigh in attention.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/cut_lognormal.hpp"
#include "ridge/base/text.hpp"
#include "ridge/rl/rl.hpp"

namespace ridge {

namespace {

constexpr double kUsualTokens = 1500;
constexpr double kMostAnswer = 4e6;
constexpr int kQuantiles = 1001;  ///< of an empirical distribution, evenly spaced
constexpr int kDraws = 4096;      ///< points at which moments are taken

Error bad_lengths(std::string message) {
  return {ErrorCode::bad_input, "answer lengths", std::move(message)};
}

double normal_share(double x) {
  return 0.5 * std::erfc(-x / std::sqrt(2.0));
}

double quantile_of(const LengthDistribution& d, double at) {
  switch (d.kind) {
    case LengthKind::fixed:
      return d.mean;
    case LengthKind::lognormal: {
      // Bisection: the moments want a thousand points once, not speed.
      const double variance = std::log1p(d.cv * d.cv);
      double low = -8, high = 8;
      for (int i = 0; i < 60; ++i) {
        const double mid = 0.5 * (low + high);
        (normal_share(mid) < at ? low : high) = mid;
      }
      const double value = std::exp(std::log(d.mean) - 0.5 * variance + std::sqrt(variance) * low);
      return std::clamp(value, std::max(1.0, d.low), d.high);
    }
    default: {
      const double place = at * static_cast<double>(d.quantiles.size() - 1);
      const auto below = static_cast<std::size_t>(place);
      const double next = d.quantiles[std::min(below + 1, d.quantiles.size() - 1)];
      return d.quantiles[below] + (place - static_cast<double>(below)) * (next - d.quantiles[below]);
    }
  }
}

Result<LengthDistribution> from_shares(const std::vector<AnswerLengths::Share>& shares) {
  double sum = 0;
  double before = 0;
  for (const AnswerLengths::Share& s : shares) {
    if (!(s.share >= 0 && s.share <= 1)) return bad_lengths(fmt::format("a share of {} is not from 0 to 1", s.share));
    if (!(s.tokens > before && s.tokens <= kMostAnswer)) {
      return bad_lengths(fmt::format("{} tokens do not follow {}: write growing lengths from 1 to {}",
                                     format_number(s.tokens, 7), format_number(before, 7), format_number(kMostAnswer)));
    }
    before = s.tokens;
    sum += s.share;
  }
  if (std::abs(sum - 1) > 1e-6) {
    return bad_lengths(
        fmt::format("the shares add up to {}, not to 1: {}", fmt::format("{:.6g}", sum),
                    sum < 1 ? fmt::format("{} is missing, longer answers perhaps", fmt::format("{:.4g}", 1 - sum))
                            : "write shares of all answers, for example 512:0.5,2048:0.3,8192:0.2"));
  }
  LengthDistribution d;
  d.kind = LengthKind::empirical;
  d.high = shares.back().tokens;
  for (int i = 0; i < kQuantiles; ++i) {
    const double at = static_cast<double>(i) / (kQuantiles - 1);
    double low = 0, reached = 0, value = shares.back().tokens;
    for (const AnswerLengths::Share& s : shares) {
      if (s.share > 0 && at <= reached + s.share + 1e-9) {
        value = low + (s.tokens - low) * std::clamp((at - reached) / s.share, 0.0, 1.0);
        break;
      }
      reached += s.share;
      low = s.tokens;
    }
    d.quantiles.push_back(std::max(1.0, value));
  }
  d.mean = d.expected();
  return d;
}

}  // namespace

double usual_answer_tokens(double most) {
  return std::min(kUsualTokens, 0.5 * most);
}

Result<std::vector<AnswerLengths::Share>> parse_length_shares(std::string_view text) {
  std::vector<AnswerLengths::Share> shares;
  const std::string_view all = text;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view part = text.substr(0, comma);
    text.remove_prefix(std::min(comma + 1, text.size()));
    const std::size_t colon = part.find(':');
    const Result<double> tokens = parse_count(part.substr(0, std::min(colon, part.size())));
    const Result<double> share =
        colon == std::string_view::npos ? Result<double>(bad_lengths("")) : parse_share(part.substr(colon + 1));
    if (!tokens || !share) {
      return bad_lengths(quoted(part) + " is no length with its share: write 512:0.5,2048:0.3,8192:0.2");
    }
    shares.push_back({*tokens, *share});
  }
  if (shares.empty()) return bad_lengths(quoted(all) + " says nothing: write 512:0.5,2048:0.3,8192:0.2");
  if (const Result<LengthDistribution> d = from_shares(shares); !d) return d.error();
  return shares;
}

Result<LengthDistribution> distribution_of(const AnswerLengths& lengths) {
  if (!lengths.shares.empty()) return from_shares(lengths.shares);
  if (!(lengths.most >= 1 && lengths.most <= kMostAnswer)) {
    return bad_lengths(fmt::format("answers are cut at {} tokens: write 1 to {}", format_number(lengths.most),
                                   format_number(kMostAnswer)));
  }
  const double mean = lengths.mean > 0 ? lengths.mean : usual_answer_tokens(lengths.most);
  if (!(mean >= 1 && mean <= lengths.most)) {
    return bad_lengths(
        fmt::format("a mean of {} tokens cannot be: answers are cut at {}; lower the mean or raise the cut",
                    format_number(mean, 7), format_number(lengths.most, 7)));
  }
  if (!(lengths.cv >= 0 && lengths.cv <= 10)) return bad_lengths("lengths vary by 0 to 10 of their mean");
  const CutLognormal cut = cut_lognormal(mean, lengths.cv, lengths.most);
  LengthDistribution d;
  d.high = lengths.most;
  d.mean = cut.mean;
  if (cut.cv <= 0) return d;
  d.kind = LengthKind::lognormal;
  d.cv = cut.cv;
  return d;
}

LengthMoments moments_of(const LengthDistribution& lengths, double prompt) {
  LengthMoments m;
  double squares = 0, sum = 0;
  for (int i = 0; i < kDraws; ++i) {
    const double answer = quantile_of(lengths, (i + 0.5) / kDraws);
    const double whole = prompt + answer;
    m.mean += answer / kDraws;
    sum += whole;
    squares += whole * whole;
    if (answer >= lengths.high) m.at_most += 1.0 / kDraws;
  }
  m.weighted = squares / sum;
  return m;
}

}  // namespace ridge
