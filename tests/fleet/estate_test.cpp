// What an estate's file says, and where it is wrong.
#include <gtest/gtest.h>

#include <string>

#include "economics/economics_data.hpp"
#include "fleet/checker.hpp"
#include "ridge/fleet/fleet.hpp"
#include "search/buyer/policy.hpp"
#include "support/bundle.hpp"

namespace ridge::fleet {
namespace {

const char* const kPlain = R"([estate]
start = "2026-12"
months = 3

[exchange]
CNY = "$0.14"

[[site]]
id = "north"
country = "DE"
power = "100 kW"
electricity = "$0.10/kWh"

[[offer]]
kind = "buy"
device = "h100-sxm"
site = "north"
price = "200000 CNY/GPU"
life_years = 4
residual = "0%"
cost_of_capital = "0%"

[[service]]
id = "chat"
model = "llama3.1-8b"
rate = 10
hours = "office"
growth = "10%"
)";

Result<Estate> estate_of(const std::string& text) {
  static const Knowledge knowledge = testing_support::knowledge();
  static const auto economics = load_economics(std::string(RIDGE_DATA_DIR) + "/economics", knowledge.catalogue);
  static const auto policy = search::load_policy(std::string(RIDGE_DATA_DIR) + "/policy");
  return read_estate(text, "e.toml", knowledge, *economics, *policy);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  return text.replace(text.find(from), from.size(), to);
}

TEST(Estate, ReadsRatesPricesAndRules) {
  const auto estate = estate_of(kPlain);
  ASSERT_TRUE(estate) << estate.error().where << ": " << estate.error().message;
  const Problem& p = estate->problem;
  ASSERT_EQ(p.stocks.size(), 1U);
  EXPECT_NEAR(p.stocks[0].usd_once, 28000, 1e-6);             // 200,000 x 0.14
  EXPECT_NEAR(p.stocks[0].charge_month, 28000.0 / 48, 0.01);  // four years without interest
  EXPECT_EQ(p.stocks[0].unit, 8);
  EXPECT_NEAR(p.services[0].demand[p.at(2, 10)], 10 * 1.21, 1e-9);
  EXPECT_EQ(p.month_name(2), "2027-02");
  ASSERT_GE(p.rules.size(), 2U);
  EXPECT_EQ(p.rules[0].where, "e.toml:11:1");
}

// Who writes an estate in a request names no file of the server: not its model either.
TEST(Estate, ReadsNoFileForThoseWhoMayNameNone) {
  static const Knowledge knowledge = testing_support::knowledge();
  static const auto economics = load_economics(std::string(RIDGE_DATA_DIR) + "/economics", knowledge.catalogue);
  static const auto policy = search::load_policy(std::string(RIDGE_DATA_DIR) + "/policy");
  const std::string config = std::string(RIDGE_DATA_DIR) + "/../examples/my-model/config.json";
  const std::string text = replaced(kPlain, "llama3.1-8b", config);
  ASSERT_TRUE(read_estate(text, "e.toml", knowledge, *economics, *policy, {}, true));
  const auto refused = read_estate(text, "e.toml", knowledge, *economics, *policy, {}, false);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("there is no model"), std::string::npos) << refused.error().message;
  const auto named = read_estate(replaced(kPlain, "llama3.1-8b", "Llama-3.1-8B-Instruct"), "e.toml", knowledge,
                                 *economics, *policy, {}, false);
  ASSERT_TRUE(named) << named.error().message;
  EXPECT_EQ(named->problem.services[0].model, "llama3.1-8b");
}

TEST(Estate, SaysWhereItIsWrong) {
  const auto wrong = [](const std::string& from, const std::string& to) {
    const auto estate = estate_of(replaced(kPlain, from, to));
    return estate ? std::string("fine") : estate.error().where + " " + estate.error().message;
  };
  // A month that is none, in the place where months are counted and where they are counted from.
  EXPECT_EQ(wrong("kind = \"buy\"", "kind = \"buy\"\nfrom = \"next year\"").substr(0, 10), "e.toml:16:");
  EXPECT_EQ(wrong("\"2026-12\"", "\"soon\"").substr(0, 9), "e.toml:2:");
  EXPECT_EQ(wrong("\"2026-12\"", "\"tomorrow\"\n[[budget]]\nfrom = \"2027-01\"").substr(0, 9), "e.toml:2:");
  EXPECT_EQ(wrong("power = \"100 kW\"", "power = \"100 kWh\"").substr(0, 10), "e.toml:11:");
  EXPECT_EQ(wrong("h100-sxm", "h100-smx").substr(0, 10), "e.toml:16:");
  EXPECT_NE(wrong("h100-sxm", "h100-smx").find("h100-sxm"), std::string::npos);
  EXPECT_EQ(wrong("site = \"north\"", "site = \"nord\"").substr(0, 10), "e.toml:17:");
  EXPECT_NE(wrong("CNY/GPU", "VND/GPU").find("exchange rate of VND"), std::string::npos);
  EXPECT_EQ(wrong("hours = \"office\"", "hours = [1, 2]").substr(0, 10), "e.toml:27:");
  EXPECT_EQ(wrong("growth", "grows").substr(0, 10), "e.toml:28:");
  EXPECT_EQ(wrong("country = \"DE\"", "country = \"Atlantis\"").substr(0, 10), "e.toml:10:");
  EXPECT_NE(wrong("start = \"2026-12\"", "start = \"2026\"").find("2026-12"), std::string::npos);
}

// What a template left empty, or a currency with a letter wrong, is not as if the restriction or the rate were not
// there.
TEST(Estate, WhatIsEmptyOrMisspeltIsRefused) {
  const auto wrong = [](const std::string& text) {
    const auto estate = estate_of(text);
    return estate ? std::string("fine") : estate.error().where + " " + estate.error().message;
  };
  for (const char* policy : {"origin = []", "avoid_vendors = []", "residency = []", "export_licences = []"}) {
    EXPECT_NE(wrong(std::string(kPlain) + "\n[policy]\n" + policy + "\n").find("empty list"), std::string::npos)
        << policy;
  }
  EXPECT_NE(wrong(replaced(kPlain, "rate = 10", "rate = 10\nresidency = []")).find("empty list"), std::string::npos);
  EXPECT_NE(wrong(replaced(kPlain, "rate = 10", "rate = 10\ndevices = []")).find("empty list"), std::string::npos);
  EXPECT_NE(wrong(replaced(kPlain, "rate = 10", "rate = 10\nvalue = \"$1e29\"")).find("all the money"),
            std::string::npos);
  EXPECT_NE(wrong(replaced(kPlain, "rate = 10", "rate = 1e-9")).find("less than a request a day"), std::string::npos);
  EXPECT_NE(
      wrong(replaced(replaced(kPlain, "rate = 10", "rate = 1e9"), "\"10%\"", "\"100%\"")).find("billion requests"),
      std::string::npos);
  const auto rate = [&](const char* line) { return wrong(replaced(kPlain, "CNY = \"$0.14\"", line)); };
  EXPECT_NE(rate("CNY = \"$0.14\"\nUSD = \"$2\"").find("a dollar is a dollar"), std::string::npos);
  EXPECT_NE(rate("CNX = \"$0.14\"").find("CNX"), std::string::npos) << "the rate of the data would be taken";
  EXPECT_NE(rate("CNY = \"$0.14\"\nRMB = \"$0.15\"").find("said twice"), std::string::npos);
  EXPECT_NE(rate("cny = \"$0.14\"").find("no currency"), std::string::npos);
  EXPECT_EQ(rate("CNY = \"$0.14\"\nEUR = \"$1.1\""), "fine") << "known, though no amount is in it";
}

// A search that is cut short knows no kind of device that serves the model: that is no reason to say that none does,
// nor to send all requests to an API.
TEST(Estate, WhoseTimeIsOverBeforeItIsRatedIsNoAnswer) {
  for (const char* api : {"", "\n[[api]]\nservice = \"chat\"\ninput = \"$1/1M tokens\"\noutput = \"$2/1M tokens\"\n"}) {
    const auto estate = estate_of(std::string(kPlain) + api);
    ASSERT_TRUE(estate) << estate.error().message;
    const auto problem = rate_options(*estate, testing_support::knowledge(), nullptr, Patience([] { return true; }));
    ASSERT_FALSE(problem);
    EXPECT_EQ(problem.error().code, ErrorCode::refused);
    EXPECT_NE(problem.error().message.find("time was over"), std::string::npos) << problem.error().message;
  }
}

TEST(Estate, PolicyForbidsPoolsByItsLine) {
  const auto estate = estate_of(std::string(kPlain) + "\n[policy]\norigin = [\"CN\"]\n");
  ASSERT_TRUE(estate);
  const int rule = estate->problem.pools[0].forbidden;
  ASSERT_GE(rule, 0);
  EXPECT_EQ(estate->problem.rules[static_cast<std::size_t>(rule)].where, "e.toml:31:1");
}

TEST(Estate, EveryReasonThatForbidsAPoolIsKept) {
  const std::string china = replaced(kPlain, "country = \"DE\"", "country = \"CN\"");
  const auto estate = estate_of(china + "\n[policy]\norigin = [\"CN\"]\n");
  ASSERT_TRUE(estate) << estate.error().message;
  const Pool& pool = estate->problem.pools[0];
  ASSERT_GE(pool.forbidden, 0);
  ASSERT_EQ(pool.forbidden_too.size(), 1U);
  // To give up one of them does not let it in, to give up both does.
  const Problem one = without(estate->problem, pool.forbidden);
  EXPECT_EQ(one.pools[0].forbidden, pool.forbidden_too[0]);
  EXPECT_EQ(without(estate->problem, pool.forbidden_too[0]).pools[0].forbidden, pool.forbidden);
  EXPECT_EQ(without(one, pool.forbidden_too[0]).pools[0].forbidden, -1);
}

TEST(Estate, WhatIsOwnedIsNoLeaveToBuyMore) {
  const std::string china = replaced(kPlain, "country = \"DE\"", "country = \"CN\"");
  const auto estate = estate_of(china + "\n[[owned]]\ndevice = \"h100-sxm\"\ngpus = 8\nsite = \"north\"\n");
  ASSERT_TRUE(estate) << estate.error().message;
  for (const Stock& stock : estate->problem.stocks) {
    const int by = estate->problem.pools[static_cast<std::size_t>(stock.pool)].forbidden;
    EXPECT_EQ(by >= 0, stock.way == Way::buy);
  }
}

TEST(Estate, ADayOfTheAnswerHoldsItsLimitsAndEveryRule) {
  const std::string text =
      replaced(kPlain, "hours = \"office\"", "hours = \"office\"\nspare = 1\nresidency = [\"DE\"]");
  const auto estate = estate_of(text + "\n[[budget]]\nmost = \"$2M\"\n");
  ASSERT_TRUE(estate) << estate.error().message;
  static const Knowledge knowledge = testing_support::knowledge();
  const auto problem = rate_options(*estate, knowledge, nullptr);
  ASSERT_TRUE(problem) << problem.error().message;
  const auto planned = plan_replayed(*estate, *problem, {.seconds = 30}, knowledge);
  ASSERT_TRUE(planned) << planned.error().message;
  ASSERT_TRUE(planned->answer.found);
  ASSERT_EQ(planned->days.size(), 3U);  // every month
  EXPECT_TRUE(planned->holds());
  double requests = 0;
  for (const Replay& day : planned->days) {
    ASSERT_EQ(day.hours.size(), 24U);
    requests += day.requests;
    for (const ReplayHour& hour : day.hours) EXPECT_GE(hour.within, 0.95) << day.month << " " << hour.hour;
  }
  EXPECT_GT(requests, 2000);  // like hours are simulated once
  // Asked for more than it was planned for, a day does not hold: the replay can say no.
  Answer overloaded = planned->answer;
  for (Placement& p : overloaded.placements) {
    for (double& rate : p.routed) rate *= 20;
  }
  const auto late = replay(*estate, planned->problem, overloaded, knowledge);
  ASSERT_TRUE(late) << late.error().message;
  EXPECT_FALSE(late->back().holds);
  const tests::Checker checker(planned->problem, planned->answer);
  EXPECT_TRUE(checker.complaints().empty()) << checker.complaints().front();
}

// Replicas are rated by a dozen: what fewer of them miss is rated again by what was seen.
TEST(Estate, WhatIsRatedFarTooHighIsRatedAgainAndHolds) {
  const auto estate = estate_of(replaced(kPlain, "rate = 10\n", "rate = 120\n"));
  ASSERT_TRUE(estate) << estate.error().message;
  static const Knowledge knowledge = testing_support::knowledge();
  const auto problem = rate_options(*estate, knowledge, nullptr);
  ASSERT_TRUE(problem) << problem.error().message;
  const auto planned = plan_replayed(*estate, *problem, {.seconds = 30}, knowledge);
  ASSERT_TRUE(planned && planned->answer.found);
  EXPECT_TRUE(planned->holds());
  Problem hopeful = *problem;
  for (Option& option : hopeful.options) option.requests_per_s *= 2;
  const auto corrected = plan_replayed(*estate, hopeful, {.seconds = 30}, knowledge);
  ASSERT_TRUE(corrected && corrected->answer.found);
  EXPECT_TRUE(corrected->holds());
  EXPECT_NEAR(corrected->answer.usd, planned->answer.usd, 0.2 * planned->answer.usd);
}

TEST(Estate, KnowsRegionsByTheirNamesAndAStateFromACountryOfItsName) {
  const std::string stated = "country = \"DE\"\npower = \"100 kW\"\nelectricity = \"$0.10/kWh\"";
  const auto price_in = [&](const std::string& place) {
    const auto estate = estate_of(replaced(kPlain, stated, place));
    return estate ? estate->problem.sites[0].usd_per_kwh[0] : -1;
  };
  const double virginia = price_in("country = \"US\"\nregion = \"us-virginia\"");
  EXPECT_GT(virginia, 0);
  EXPECT_EQ(price_in("country = \"US\"\nregion = \"Virginia\""), virginia);
  EXPECT_GT(price_in("country = \"US\""), 0);  // the country's
  EXPECT_GT(price_in("country = \"DE\""), 0);
  // Tbilisi pays no price of Atlanta.
  EXPECT_GT(price_in("country = \"US\"\nregion = \"Georgia\""), 0);
  EXPECT_NE(price_in("country = \"GE\"\nregion = \"Georgia\""), price_in("country = \"US\"\nregion = \"Georgia\""));
}

TEST(Estate, NamesTheKeyThatAMisspeltOneMeant) {
  const auto estate = estate_of(replaced(kPlain, "power =", "powr ="));
  ASSERT_FALSE(estate);
  EXPECT_NE(estate.error().message.find("did you mean 'power'?"), std::string::npos) << estate.error().message;
}

}  // namespace
}  // namespace ridge::fleet
