// Each kind's formula on small numbers that can be checked by hand, and the slips it explains.
#include "support.hpp"

namespace ridge::test {
namespace {

TEST(Specification, ADenseFigureIsRightAndASparseOneIsNamed) {
  expect_verdict(judged("kind='specification'\nof='h100-sxm'\nfigure='bf16'\nclaimed='989 TFLOPS'"), Verdict::right,
                 989.4e12);
  const Finding f = judged("kind='specification'\nof='h100-sxm'\nfigure='fp8'\nclaimed='3958 TFLOPS'");
  expect_verdict(f, Verdict::sparse, 1978.9e12);
  // Said to be sparse, it is right.
  expect_verdict(judged("kind='specification'\nof='h100-sxm'\nfigure='fp8'\nsparse='yes'\nclaimed='3958 TFLOPS'"),
                 Verdict::right);
}

TEST(Specification, AWrongPrefixOrCountIsAUnit) {
  expect_verdict(judged("kind='specification'\nof='h200-sxm'\nfigure='bandwidth'\nclaimed='4.8 GB/s'"), Verdict::unit,
                 4.8e12);
  // Eight accelerators, sparse: 8 x 2 x 4.5.
  expect_verdict(judged("kind='specification'\nof='b200-sxm-180'\nfigure='fp8'\nclaimed='72 PFLOPS'"), Verdict::unit,
                 4.5e15);
  // Bits for bytes: 900 GB/s written as 7,200.
  expect_verdict(judged("kind='specification'\nof='h100-sxm'\nfigure='nvlink'\nclaimed='7200 GB/s'"), Verdict::unit,
                 900e9);
}

TEST(Specification, AFormatThePartDoesNotHaveIsWrong) {
  const Finding f = judged("kind='specification'\nof='a100-sxm-80'\nfigure='fp8'\nclaimed='1248 TFLOPS'");
  expect_verdict(f, Verdict::wrong);
  EXPECT_NE(f.because.find("INT8"), std::string::npos) << f.because;  // 1,248 is sparse INT8
}

TEST(Specification, TheRightValueNamesItsSource) {
  const Finding f = judged("kind='specification'\nof='mi300x'\nfigure='bandwidth'\nclaimed='5.3 TB/s'");
  expect_verdict(f, Verdict::right, 5.3e12);
  ASSERT_FALSE(f.inputs.empty());
  EXPECT_GT(f.inputs.back().source.size(), 5u);
}

TEST(Specification, WhatNobodyPublishedCannotBeChecked) {
  const Finding f = judged("kind='specification'\nof='tpu-v5e'\nfigure='power'\nclaimed='200 W'");
  expect_verdict(f, Verdict::cannot_check);
  EXPECT_FALSE(f.because.empty());
}

TEST(Comparison, AFactorWithoutWorkIsAnsweredWithTheDataSheets) {
  const Finding f = judged("kind='comparison'\nof='b200-sxm-180'\nto='h100-sxm'\nfigure='speed'\nclaimed='3x'");
  expect_verdict(f, Verdict::cannot_check);
  EXPECT_NE(f.because.find("memory bandwidth 2.3x"), std::string::npos) << f.because;
  EXPECT_NE(f.because.find("dense FP4 peak against dense FP8 peak 4.5x"), std::string::npos) << f.because;
}

TEST(Comparison, RatiosComeFromTheCatalogue) {
  // 4.8 / 3.35 - 1 = 43.3 %
  expect_verdict(
      judged("kind='comparison'\nof='h200-sxm'\nto='h100-sxm'\nfigure='bandwidth'\nas='more'\nclaimed='43%'"),
      Verdict::right, 0.433);
  expect_verdict(judged("kind='comparison'\nof='h200-sxm'\nto='h100-sxm'\nfigure='bf16'\nclaimed='1.4x'"),
                 Verdict::wrong, 1.0);
  // Dense over sparse: 9000 / 1978.9 halved.
  expect_verdict(judged("kind='comparison'\nof='b200-sxm-180'\nto='h200-sxm'\nfigure='fp8'\nclaimed='4.5x'"),
                 Verdict::sparse, 2.274);
}

TEST(Change, PercentagesArePartOfWhatWasThereBefore) {
  expect_verdict(judged("kind='change'\nfrom='40%'\nto='50%'\nclaimed='25%'"), Verdict::right, 0.25);
  // Ten percentage points are not ten percent.
  const Finding f = judged("kind='change'\nfrom='40%'\nto='50%'\nclaimed='10%'");
  expect_verdict(f, Verdict::unit, 0.25);
  // 1 - 35.5 / 38.1 = 6.8 %
  expect_verdict(judged("kind='change'\nfrom='38.1%'\nto='35.5%'\ndirection='down'\nclaimed='10%'"), Verdict::wrong,
                 0.0682);
}

TEST(PerAccelerator, TheDivisorIsFoundOut) {
  const Finding f = judged("kind='per-accelerator'\ntotal='144000 tok/s'\ncount='72 GPU'\nclaimed='36000 tok/s'");
  expect_verdict(f, Verdict::wrong, 2000);
  EXPECT_NE(f.because.find("/ 4"), std::string::npos) << f.because;
}

TEST(PerAccelerator, MeansOfQuotientsMayPartFromQuotientsOfMeans) {
  expect_verdict(judged("kind='per-accelerator'\ntotal='1000'\ncount='7.3'\naverages='yes'\nclaimed='145.1'"),
                 Verdict::rounded);
  expect_verdict(judged("kind='per-accelerator'\ntotal='1000'\ncount='7.3'\nclaimed='145.1'"), Verdict::wrong);
}

TEST(CostPerToken, RentOverRate) {
  // 3.39 / 3600 / 4000 x 1e6 = 0.2354
  expect_verdict(judged("kind='cost-per-token'\nrent='$3.39/hour'\nrate='4000 tok/s'\nclaimed='$0.42/1M tokens'"),
                 Verdict::wrong, 0.2354e-6);
  expect_verdict(judged("kind='cost-per-token'\nrent='$2/hour'\nrate='1000 tok/s'\nclaimed='$0.56/1M tokens'"),
                 Verdict::right);
}

TEST(Lease, AMonthHas730Hours) {
  // 8,000 / 8 / 730 = 1.370
  expect_verdict(judged("kind='lease'\nprice='$8000/month'\ngpus=8\nclaimed='$1.37/GPU-hour'"), Verdict::right);
  expect_verdict(judged("kind='lease'\nprice='$8000/month'\ngpus=8\nclaimed='$10.96/GPU-hour'"), Verdict::unit);
}

TEST(PricePer, DensePricesAreNotHalvedBySparsity) {
  // 200,000 / 8 / 0.9894 = 25,268 per PFLOPS; half of it per sparse rate.
  expect_verdict(
      judged("kind='price-per'\nprice='$200k'\ngpus=8\ndevice='h100-sxm'\nfigure='bf16'\nclaimed='$25300/PFLOPS'"),
      Verdict::right);
  expect_verdict(
      judged("kind='price-per'\nprice='$200k'\ngpus=8\ndevice='h100-sxm'\nfigure='bf16'\nclaimed='$12600/PFLOPS'"),
      Verdict::sparse);
}

TEST(KvCache, TwoTensorsPerLayerAndKvHead) {
  // Llama 3 70B: 2 x 80 x 8 x 128 x 2 B = 327,680 B a token; 4,096 of them are 1.342 GB.
  expect_verdict(judged("kind='kv-cache'\nmodel='llama3-70b'\ncontext='4K'\nclaimed='1.34 GB'"), Verdict::right,
                 1.342e9);
  // 40 GiB printed as GB: nearer than rounding would be.
  expect_verdict(judged("kind='kv-cache'\nmodel='llama3-70b'\ncontext='128K'\nclaimed='40 GB'"), Verdict::unit,
                 42.95e9);
  // 1.25 GiB printed as GB.
  expect_verdict(judged("kind='kv-cache'\nmodel='llama3-70b'\ncontext='4K'\nclaimed='1.25 GB'"), Verdict::unit);
  // All 64 heads counted: eight times as much.
  const Finding f = judged("kind='kv-cache'\nmodel='llama3-70b'\ncontext='4K'\nclaimed='10.7 GB'");
  expect_verdict(f, Verdict::wrong);
  EXPECT_NE(f.because.find("64 heads"), std::string::npos) << f.because;
  // Latent attention: (512 + 64) x 61 x 2 B x 131,072 = 9.21 GB.
  expect_verdict(judged("kind='kv-cache'\nmodel='deepseek-v3'\ncontext='128K'\nclaimed='9.2 GB'"), Verdict::right,
                 9.21e9);
}

// Llama 3 70B: 327,680 B a token are 320 KB of 1,024 bytes; Llama 3.1 405B: 516,096 B are 0.492 MB of 1,048,576.
TEST(KvCache, ATokenMayBeCountedInPowersOfTwoOfItsOwnUnit) {
  const auto per_token = [](std::string model, std::string claimed) {
    return judged("kind='kv-cache'\nmodel='" + model + "'\ncontext=1\nclaimed='" + claimed + "'");
  };
  expect_verdict(per_token("llama3-70b", "320 KB"), Verdict::right);
  expect_verdict(per_token("llama3-70b", "328 KB"), Verdict::right);
  expect_verdict(per_token("llama3-70b", "312.5 KB"), Verdict::wrong);
  expect_verdict(per_token("llama3.1-405b", "0.4922 MB"), Verdict::right);
}

TEST(Weights, ParametersTimesBytes) {
  expect_verdict(judged("kind='weights'\nparameters='100B'\nformat='int8'\nclaimed='100 GB'"), Verdict::right, 100e9);
  expect_verdict(judged("kind='weights'\nmodel='llama3-70b'\nformat='int4'\nclaimed='85 GB'"), Verdict::wrong, 35.3e9);
}

// 70.55B x 2 B = 141 GB; a fifth on top is granted only where serving is spoken of.
TEST(Weights, WhatServingKeepsIsNoPartOfTheWeights) {
  const std::string claim = "kind='weights'\nmodel='llama3.1-70b'\nformat='bf16'\nclaimed='170 GB'";
  expect_verdict(judged(claim), Verdict::wrong, 141.1e9);
  expect_verdict(judged(claim + "\nuse='serving'"), Verdict::rounded, 141.1e9);
}

TEST(Fits, YesAndNoAreBothClaims) {
  expect_verdict(judged("kind='fits'\nparameters='30B'\nformat='fp16'\ndevice='h100-sxm'\nclaimed='yes'"),
                 Verdict::right);
  expect_verdict(judged("kind='fits'\nparameters='50B'\nformat='fp16'\ndevice='h100-sxm'\nclaimed='no'"),
                 Verdict::right);
  // 16 bytes a parameter in training: 10B take 160 GB.
  expect_verdict(
      judged("kind='fits'\nparameters='10B'\nformat='bf16'\ndevice='h200-sxm'\nuse='training'\nclaimed='yes'"),
      Verdict::wrong);
}

// 8.03B x 2 B = 16 GB: one H100 holds that. 70.55B x 2 B = 141 GB: two do, one does not.
TEST(Fits, NeedingSoManyMeansThatFewerDoNotDo) {
  const auto needs = [](std::string model, int gpus, std::string said) {
    return judged("kind='fits'\nmodel='" + model + "'\ndevice='h100-sxm'\nas='needed'\ngpus=" + std::to_string(gpus) +
                  "\nclaimed='" + said + "'");
  };
  expect_verdict(needs("llama3.1-70b", 2, "yes"), Verdict::right);
  expect_verdict(needs("llama3.1-70b", 1, "yes"), Verdict::wrong);
  expect_verdict(needs("llama3.1-70b", 2, "no"), Verdict::wrong);
  expect_verdict(needs("llama3.1-70b", 1, "no"), Verdict::wrong);
  expect_verdict(needs("llama3.1-8b", 8, "yes"), Verdict::cannot_check);
  EXPECT_NE(needs("llama3.1-8b", 8, "yes").because.find("fit on 1"), std::string::npos);
  expect_verdict(needs("llama3.1-8b", 8, "no"), Verdict::right);
  EXPECT_EQ(name(audit("Llama 3.1 8B needs 8 H100s.").findings.at(0).verdict), "cannot check");
}

TEST(TrainingMemory, SixteenBytesAParameter) {
  expect_verdict(judged("kind='training-memory'\nparameters='10B'\nclaimed='160 GB'"), Verdict::right);
  expect_verdict(judged("kind='training-memory'\nparameters='10B'\nshards=8\nclaimed='10 GB'"), Verdict::wrong, 20e9);
}

TEST(DecodeRate, NothingIsFasterThanReadingTheWeights) {
  // 3.35 TB/s / 16.06 GB = 209 tokens a second.
  expect_verdict(
      judged("kind='decode-rate'\nmodel='llama3-8b'\ndevice='h100-sxm'\nformat='fp16'\nbatch=1\nclaimed='800 tok/s'"),
      Verdict::wrong, 208.6);
  expect_verdict(
      judged("kind='decode-rate'\nmodel='llama3-8b'\ndevice='h100-sxm'\nformat='fp16'\nbatch=1\nclaimed='150 tok/s'"),
      Verdict::right);
  // 70.6 GB of weights do not fit into 48 GB at any speed.
  expect_verdict(
      judged("kind='decode-rate'\nmodel='llama3-70b'\ndevice='l40s'\nformat='int8'\nbatch=1\nclaimed='5 tok/s'"),
      Verdict::wrong);
}

TEST(RequestRate, TokensOverTokensPerAnswer) {
  const Finding f = judged("kind='request-rate'\nrate='4500 tok/s'\noutput='1000'\nbatch='128'\nclaimed='35'");
  expect_verdict(f, Verdict::wrong, 4.5);
  EXPECT_NE(f.because.find("batch"), std::string::npos);
}

TEST(Training, MfuTokensAndMoneyHangTogether) {
  const std::string job = "model='llama3.1-405b'\ndevice='h100-sxm'\nformat='bf16'\nsequence='8192'\n";
  // 0.54 x 989.4e12 / 2.638e12 = 202.5 tokens a second and GPU.
  expect_verdict(judged("kind='training-rate'\n" + job + "mfu='54%'\nclaimed='202.5 tok/s'"), Verdict::right, 202.5);
  expect_verdict(judged("kind='training-rate'\n" + job + "rate='202.5 tok/s'\nclaimed='54%'"), Verdict::right, 0.54);
  // 1.42 / 3600 / 202.5 x 1e6 = 1.948
  expect_verdict(judged("kind='training-cost'\n" + job + "mfu='54%'\nrent='$1.42/GPU-hour'\nclaimed='$1.95/1M tokens'"),
                 Verdict::right);
  expect_verdict(
      judged("kind='training-cost'\n" + job + "mfu='54%'\nrent='$1.42/GPU-hour'\ntokens='15T'\nclaimed='$60M'"),
      Verdict::wrong, 29.2e6);
}

TEST(TrainingTime, WithoutAnMfuTheImpliedOneHasToBePossible) {
  const std::string job = "model='llama3.1-405b'\ndevice='h100-sxm'\ngpus=16384\n";
  expect_verdict(judged("kind='training-time'\n" + job + "claimed='75 days'"), Verdict::rounded);
  expect_verdict(judged("kind='training-time'\n" + job + "claimed='20 days'"), Verdict::wrong);
  // 2.788M GPU-hours on 2,048 GPUs are 56.7 days.
  expect_verdict(judged("kind='training-time'\ngpu-hours='2.788M'\ngpus=2048\nclaimed='30 days'"), Verdict::wrong,
                 56.72 * 86400);
}

TEST(Energy, TokensHouseholdsAndBudgets) {
  const std::string job = "per-token='2.46 J/token'\nbudget='10791 kWh'\n";
  expect_verdict(judged("kind='energy'\n" + job + "tokens='300B'\nclaimed='19'"), Verdict::right);
  expect_verdict(judged("kind='energy'\n" + job + "claimed='15.8B'"), Verdict::right);
  expect_verdict(judged("kind='energy'\n" + job + "tokens='300B'\nclaimed='190'"), Verdict::wrong);
}

TEST(PerWatt, PrefixesAndSparsityAreToldApart) {
  expect_verdict(judged("kind='per-watt'\ndevice='h200-sxm'\nformat='fp8'\nclaimed='2.83 TFLOPS/W'"), Verdict::right);
  expect_verdict(judged("kind='per-watt'\ndevice='h200-sxm'\nformat='fp8'\nclaimed='5.65 TFLOPS/W'"), Verdict::sparse);
  expect_verdict(judged("kind='per-watt'\nrate='20 PFLOPS'\npower='1000 W'\nclaimed='20 PFLOPS/W'"), Verdict::unit,
                 20e12);
}

TEST(Mlperf, AWholeSystemIsNotOneAccelerator) {
  const std::string row = "benchmark='deepseek-r1'\ndevice='gb200-nvl72'\nscenario='Offline'\nround='v5.1'\n";
  // 289,712 tokens/s on 72 GPUs.
  expect_verdict(judged("kind='mlperf'\n" + row + "claimed='4024 tok/s'"), Verdict::right, 4023.8);
  expect_verdict(judged("kind='mlperf'\n" + row + "claimed='289712 tok/s'"), Verdict::unit);
  const Finding f = judged("kind='mlperf'\n" + row + "claimed='72428 tok/s'");
  expect_verdict(f, Verdict::wrong);
  EXPECT_NE(f.because.find("one node"), std::string::npos) << f.because;
  expect_verdict(judged("kind='mlperf'\nbenchmark='deepseek-r1'\nunit='samples/s'"), Verdict::unit);
}

TEST(Agreement, RangesThatMeetAgree) {
  expect_verdict(judged("kind='agreement'\nvalues=['$18000', '$12000-18000']"), Verdict::right);
  expect_verdict(judged("kind='agreement'\nvalues=['4.8 TB/s', '5.3 TB/s']"), Verdict::contradiction);
}

TEST(Judging, TheDigitsGivenDecideHowNearIsRight) {
  // Two digits: 2.3 is not 2.42. One digit: 3x may stand for 2.81 as rounded, not for 4.1.
  expect_verdict(judged("kind='ratio'\na='8.8'\nb='3.63'\nclaimed='2.3x'"), Verdict::wrong, 2.424);
  expect_verdict(judged("kind='ratio'\na='281'\nb='100'\nclaimed='3x'"), Verdict::rounded);
  expect_verdict(judged("kind='ratio'\na='205'\nb='100'\nclaimed='2x'"), Verdict::right);
  expect_verdict(judged("kind='ratio'\na='410'\nb='100'\nclaimed='3x'"), Verdict::wrong);
  expect_verdict(judged("kind='product'\neach='2048'\ncount='256'\nclaimed='500k'"), Verdict::rounded);
  // Bounds and ranges.
  expect_verdict(judged("kind='ratio'\na='172'\nb='100'\nclaimed='<2x'"), Verdict::right);
  expect_verdict(judged("kind='ratio'\na='297'\nb='100'\nclaimed='2.5-3x'"), Verdict::right);
}

TEST(Judging, ClaimsOfOneDocumentMayContradictEachOther) {
  auto claims = checker().read_toml(
      "[[claim]]\nkind='specification'\nof='h200-sxm'\nfigure='bandwidth'\nclaimed='4.8 TB/s'\n"
      "[[claim]]\nkind='specification'\nof='h200-sxm'\nfigure='bandwidth'\nclaimed='5.3 TB/s'\n",
      "two.toml");
  ASSERT_TRUE(claims);
  const Audit two = checker().check(*claims, "two.toml");
  expect_verdict(two.findings[0], Verdict::right);
  expect_verdict(two.findings[1], Verdict::contradiction);
  EXPECT_TRUE(two.any_error());
}

TEST(Model, FiguresAreThoseOfTheCatalogue) {
  expect_verdict(judged("kind='model'\nof='mixtral-8x7b'\nfigure='parameters'\nclaimed='56B'\n"), Verdict::wrong,
                 46.7e9);
  expect_verdict(judged("kind='model'\nof='deepseek-v3'\nfigure='active'\nclaimed='37B'\n"), Verdict::right);
  expect_verdict(judged("kind='model'\nof='llama3-70b'\nfigure='kv-heads'\nclaimed='64'\n"), Verdict::wrong, 8);
  expect_verdict(judged("kind='model'\nof='llama3.1-405b'\nfigure='gpu-hours'\nclaimed='30.8M'\n"), Verdict::right);
  // Latent attention keeps no heads of keys and values.
  expect_verdict(judged("kind='model'\nof='deepseek-v3'\nfigure='kv-heads'\nclaimed='128'\n"), Verdict::cannot_check);
  expect_verdict(judged("kind='model'\nof='llama3-70b'\nfigure='colour'\nclaimed='1'\n"), Verdict::cannot_check);
}

TEST(Launch, AYearMoreOrLessIsNotJudged) {
  expect_verdict(judged("kind='launch'\nof='a100-sxm-80'\nclaimed='2020'\n"), Verdict::right);
  expect_verdict(judged("kind='launch'\nof='a100-sxm-80'\nclaimed='2021'\n"), Verdict::cannot_check);
  expect_verdict(judged("kind='launch'\nof='a100-sxm-80'\nclaimed='2023'\n"), Verdict::wrong, 2020);
}

TEST(Calculation, ProductsAndQuotientsKeepTheirUnits) {
  expect_verdict(judged("kind='calculation'\na='$2/hour'\nb='30 days'\nc='1000'\nclaimed='$1.44M'\n"), Verdict::right,
                 1.44e6);
  // 40 % of 989.4 TFLOP/s
  expect_verdict(judged("kind='calculation'\na='40%'\nb='h100-sxm:bf16'\nclaimed='396 TFLOPS'\n"), Verdict::right);
  expect_verdict(judged("kind='calculation'\na='100 GB'\nover='10 GB/s'\nclaimed='10 GB'\n"), Verdict::unit);
  expect_verdict(judged("kind='calculation'\na='100 GB'\nover='0 GB/s'\nclaimed='10 s'\n"), Verdict::cannot_check);
}

// 64 x 240 h = 15,360 GPU-hours; $98 x 730 h = $71,540 a month; 10.2 kW x 24 h = 244.8 kWh a day.
TEST(Calculation, TheRightValueStandsInTheUnitOfTheClaim) {
  const auto right = [](std::string_view text) { return audit(text).findings.at(0).right.value().text; };
  EXPECT_EQ(right("64 GPUs for 10 days is 20,000 GPU-hours."), "15,360 GPU-hours");
  EXPECT_EQ(right("2,000 GPUs for 50 days is 3 million GPU-hours."), "2.40 million GPU-hours");
  EXPECT_EQ(right("A node at $98/hour comes to $61,540 a month."), "$71,540 a month");
  EXPECT_EQ(right("One DGX H100 at 10.2 kW burns 102 kWh a day."), "245 kWh a day");
  EXPECT_EQ(right("Writing 1 TB at 5 GB/s takes 20 minutes."), "3.33 min");
}

}  // namespace
}  // namespace ridge::test
