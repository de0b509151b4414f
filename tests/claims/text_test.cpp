// Claims found in prose, Markdown and plain tables; and what hostile text does: nothing.
#include <algorithm>
#include <random>

#include "support.hpp"

namespace ridge::test {
namespace {

/// The finding whose claimed figure has this text, or an empty one.
Finding finding_of(const Audit& audit, std::string_view claimed, std::string_view kind = "") {
  for (const Finding& f : audit.findings) {
    const bool fits = f.claim.claimed.text == claimed && (kind.empty() || f.claim.kind == kind);
    if (fits) return f;
  }
  ADD_FAILURE() << "nothing was found about " << claimed << " (" << kind << ")";
  return {};
}

TEST(Sentence, ThePriceOfTokens) {
  const Audit found = audit("B200 at $3.39/h and 4000 tok/s costs $0.42 per 1M tokens");
  ASSERT_EQ(found.findings.size(), 1u);
  expect_verdict(found.findings[0], Verdict::wrong, 0.2354e-6);
}

TEST(Sentence, FiguresBelongToThePartTheyAreSaidOf) {
  expect_verdict(finding_of(audit("The H200 offers 4.8 GB/s of memory bandwidth."), "4.8 GB/s"), Verdict::unit);
  const Audit two = audit("The GB200 draws 1200 W of power against 700 W for the H100.");
  expect_verdict(finding_of(two, "1200 W"), Verdict::right);
  expect_verdict(finding_of(two, "700 W"), Verdict::right);
  // What is compared with owns nothing that follows.
  const Audit over = audit("The H200 is a step over the H100: its memory capacity is now 141 GB.");
  expect_verdict(finding_of(over, "141 GB"), Verdict::right);
}

TEST(Sentence, ItsStandsForWhatTheSentenceIsAbout) {
  const Audit found =
      audit("The H200 keeps the compute of the H100, but its memory bandwidth grows to 4.8 TB/s, a 43% increase.");
  expect_verdict(finding_of(found, "4.8 TB/s"), Verdict::right);
  expect_verdict(finding_of(found, "43%"), Verdict::right);
}

TEST(Sentence, PronounsReachBackOneSentence) {
  const Audit found = audit("The MI300X is AMD's answer. Its memory bandwidth comes to 5.3 TB/s.");
  expect_verdict(finding_of(found, "5.3 TB/s"), Verdict::right);
}

TEST(Sentence, PeaksNeedTheirFormat) {
  expect_verdict(finding_of(audit("B200 delivers 9 PFLOPS at FP8 precision."), "9 PFLOPS"), Verdict::sparse);
  expect_verdict(finding_of(audit("With structured sparsity B200 reaches 9 PFLOPS with sparsity in FP8."), "9 PFLOPS"),
                 Verdict::right);
  EXPECT_TRUE(audit("B200 delivers 9 PFLOPS.").findings.empty());
}

TEST(Sentence, ComparisonsNameBothSides) {
  expect_verdict(finding_of(audit("The FP16 computing performance of the B200 is 4x that of the H100."), "4x"),
                 Verdict::wrong, 2.274);
  expect_verdict(finding_of(audit("H200 memory bandwidth is 43% higher than that of the H100."), "43%"),
                 Verdict::right);
  expect_verdict(finding_of(audit("Llama 3.1 405B is 9x larger than Llama 3 70B."), "9x"), Verdict::wrong, 5.75);
}

// All that is said is a factor: the format decides that is named, or that alone gives it; else nothing is guessed.
TEST(Sentence, BareComparisonsAreOfTheFormatThatIsNamedOrOfNone) {
  expect_verdict(finding_of(audit("GB200 is 5x H100"), "5x"), Verdict::cannot_check);
  expect_verdict(finding_of(audit("GB200 is five times as fast as an H100."), "five times"), Verdict::cannot_check);
  expect_verdict(finding_of(audit("GB300 is 1.5x faster than GB200 in FP4"), "1.5x"), Verdict::right);
  expect_verdict(finding_of(audit("B200 is 4x faster than H100 in FP8"), "4x"), Verdict::wrong, 2.274);
  expect_verdict(finding_of(audit("GB300 has 50% more FP4 than GB200"), "50%"), Verdict::right);
  expect_verdict(finding_of(audit("B200 has 2.3x the compute of H100"), "2.3x"), Verdict::right);
  expect_verdict(finding_of(audit("B200 has 4x the compute of H100"), "4x"), Verdict::cannot_check);
  expect_verdict(finding_of(audit("A B200 is 2.5x H100 for training"), "2.5x"), Verdict::cannot_check);
  EXPECT_TRUE(audit("A DGX has 8x H100").findings.empty());
}

TEST(Sentence, ChineseOrderNamesThePartnerFirst) {
  expect_verdict(finding_of(audit("GB200 是 H100 的 5 倍"), "5x"), Verdict::cannot_check);
  expect_verdict(finding_of(audit("H200 比 H100 快 2 倍"), "2x"), Verdict::cannot_check);
  expect_verdict(finding_of(audit("B200 的 FP4 算力是 H100 FP8 的 4.5 倍"), "4.5x"), Verdict::right);
  expect_verdict(finding_of(audit("H100 的 FP8 算力是 BF16 的三倍"), "3x"), Verdict::wrong, 2);
  expect_verdict(finding_of(audit("H20 的算力只有 H100 的 15%"), "15%"), Verdict::right);
  expect_verdict(finding_of(audit("NVL72 相当于 HGX H100 节点的 9 倍"), "9x"), Verdict::right);
  EXPECT_EQ(audit("单卡 H100 可以跑 70B FP8").findings.size(), 1u);
  expect_verdict(audit("单卡 H100 可以跑 405B").findings.at(0), Verdict::wrong);
  expect_verdict(audit("单卡 H100 跑不动 Llama 3.1 405B").findings.at(0), Verdict::right);
  expect_verdict(audit("A single H100 can't run Llama 3.1 8B").findings.at(0), Verdict::wrong);
  EXPECT_TRUE(audit("A single H100 cannot serve Llama 3.1 8B at 900 requests/s").findings.empty());
  EXPECT_TRUE(audit("On a single H100 we did not train Llama 3.1 8B").findings.empty());
}

TEST(Sentence, CanRunIsReadInEveryForm) {
  expect_verdict(audit("八张H100能跑DeepSeek-R1").findings.at(0), Verdict::wrong);
  expect_verdict(audit("8张H200能运行DeepSeek-R1").findings.at(0), Verdict::right);
  expect_verdict(audit("一张H100不能跑Llama 3.1 405B").findings.at(0), Verdict::right);
  expect_verdict(audit("An H100 cannot run Llama 3.3 70B in BF16").findings.at(0), Verdict::right);
  expect_verdict(audit("An H100 can run Llama 3.1 405B").findings.at(0), Verdict::wrong);
  EXPECT_TRUE(audit("An H100 server can run Llama 3.1 405B").findings.empty());
}

TEST(Sentence, AnHourOfADeviceIsHeldAgainstItsQuotes) {
  // Somebody asks as much, and says so; what nobody asks may still be somebody's price.
  const Finding quoted = finding_of(audit("An H100 costs $3.29 an hour"), "$3.29 an hour");
  expect_verdict(quoted, Verdict::right);
  EXPECT_NE(quoted.formula.find("quotes of h100-sxm on demand: $3.2"), std::string::npos);
  const Finding cheap = finding_of(audit("An H100 costs $0.20 an hour"), "$0.20 an hour");
  expect_verdict(cheap, Verdict::cannot_check);
  EXPECT_NE(cheap.because.find("nobody quotes that on demand: "), std::string::npos);
  expect_verdict(finding_of(audit("A B200 is $2.12 an hour on the spot market"), "$2.12 an hour"), Verdict::right);
  EXPECT_TRUE(audit("8 H100 cost $24 an hour").findings.empty());
  EXPECT_TRUE(audit("An H100 costs $2 an hour if you own it").findings.empty());
  EXPECT_TRUE(audit("An H100 costs $2 an hour less than a B200 at $5 an hour").findings.empty());
}

TEST(Sentence, ChangesFromOneValueToAnother) {
  expect_verdict(finding_of(audit("MFU rose from 40% to 50%, a 25% improvement."), "25%"), Verdict::right);
  expect_verdict(finding_of(audit("The price fell from $20 to $4, an 8x reduction."), "8x"), Verdict::wrong, 5);
  // Four times fewer are an efficiency of +300 %, but a fall of 75 %.
  expect_verdict(finding_of(audit("This reduces the GPUs from 8,000 to 2,000, a 300% efficiency increase."), "300%"),
                 Verdict::right);
  expect_verdict(finding_of(audit("The count drops from 8,000 GPUs to 2,000 GPUs, 300% lower."), "300%"),
                 Verdict::wrong, 0.75);
}

TEST(Sentence, UnitsSayHowAmountsAreCombined) {
  // 1,000 x 720 h x $2/h
  expect_verdict(finding_of(audit("1,000 GPUs for 30 days at $2/hr is $2.4 million."), "$2.4 million"), Verdict::wrong,
                 1.44e6);
  // 800 GB / 10 GB/s
  expect_verdict(finding_of(audit("It takes 80 seconds to write 800 GB at 10 GB/s."), "80 seconds"), Verdict::right);
  // 400 / 989.4
  expect_verdict(finding_of(audit("400 TFLOPS on an H100 is 40% MFU."), "40%"), Verdict::right);
  // What two things cost is no sum.
  EXPECT_TRUE(audit("We pay $2/hour for the GPU and storage costs $200 a month.").findings.empty());
  EXPECT_TRUE(audit("Renting at $3/hour is cheaper than $2,500 a month.").findings.empty());
}

TEST(Sentence, ASizeBelowZeroIsWrong) {
  expect_verdict(finding_of(audit("H100 has -80 GB of memory."), "-80 GB"), Verdict::wrong, 80e9);
}

TEST(Sentence, AModelFitsAsItWasReleased) {
  const auto fits = [](std::string_view text) {
    const Audit found = audit(text);
    return found.findings.size() == 1 ? found.findings[0] : Finding{};
  };
  // 70.55B x 2 B = 141 GB
  expect_verdict(fits("Llama 3.1 70B fits on one H100."), Verdict::wrong, 141.1e9);
  expect_verdict(fits("Llama 3.1 70B in INT4 fits on one H100."), Verdict::right, 35.3e9);
  // released in MXFP4: 116.8B x 0.5 B
  expect_verdict(fits("gpt-oss-120b fits on one H100."), Verdict::right, 58.4e9);
  expect_verdict(fits("DeepSeek-V3 doesn't fit on eight H100s."), Verdict::right, 671e9);
}

TEST(Sentence, ArithmeticThatIsSpelledOut) {
  expect_verdict(finding_of(audit("The node has 2 TB of memory (192 GB x 8 cards)."), "2 TB"), Verdict::wrong,
                 1.536e12);
  expect_verdict(finding_of(audit("Each port carries 400 Gb/s (400 GB/s)."), "400 GB/s"), Verdict::unit, 50e9);
  expect_verdict(finding_of(audit("It reaches 7 TFLOPS/W (3500 TFLOPS / 500 W) at FP8."), "7 TFLOPS/W"),
                 Verdict::right);
}

TEST(Sentence, WhatFitsAndWhatDoesNot) {
  const Audit no = audit("Llama 3 70B in FP16 does not fit on a single H100.");
  ASSERT_EQ(no.findings.size(), 1u);
  expect_verdict(no.findings[0], Verdict::right);
  const Audit yes = audit("Llama 3.1 405B in FP8 fits on a single H200.");
  ASSERT_EQ(yes.findings.size(), 1u);
  expect_verdict(yes.findings[0], Verdict::wrong);
  // 405B in four bits are 203 GB, and a B200 has 180.
  for (const char* text : {"A single B200 can serve 405B.", "A single B200 can host a 405B model.",
                           "One B200 can run Llama 3.1 405B in FP4."}) {
    const Audit served = audit(text);
    ASSERT_EQ(served.findings.size(), 1u) << text;
    expect_verdict(served.findings[0], Verdict::wrong);
  }
  const Audit eight = audit("8 H200 can serve Llama 3.1 405B in FP8.");
  // The count of devices is a part of the claim, not a figure that was left out.
  EXPECT_TRUE(eight.not_understood.empty());
  const Audit training = audit("八张 H100 可以训练 70B 模型");
  ASSERT_EQ(training.findings.size(), 1U);
  EXPECT_EQ(training.findings[0].verdict, Verdict::wrong);
  EXPECT_TRUE(training.not_understood.empty());
  ASSERT_EQ(eight.findings.size(), 1u);
  expect_verdict(eight.findings[0], Verdict::right);
}

TEST(Sentence, KvCachesAndRates) {
  expect_verdict(
      finding_of(audit("The KV cache of Llama 3 70B at 128K context takes 72 GB in FP16."), "72 GB", "kv-cache"),
      Verdict::wrong, 42.95e9);
  expect_verdict(finding_of(audit("Llama 3 8B in FP16 runs at 900 tok/s with batch 1 on one H100."), "900 tok/s"),
                 Verdict::wrong, 208.6);
}

TEST(Sentence, TrainingRunsLeasesAndEnergy) {
  expect_verdict(finding_of(audit("Training Llama 3 70B on 512 H100s takes 14 days."), "14 days"), Verdict::wrong);
  // 0.54 x 989.4e12 / 2.638e12 = 202.5
  expect_verdict(finding_of(audit("At 54% MFU one H100 trains Llama 3.1 405B in BF16 at 400 tok/s."), "400 tok/s"),
                 Verdict::wrong, 202.5);
  expect_verdict(finding_of(audit("Renting 8 H100 for $8000/month is $1.37/h for each."), "$1.37/h"), Verdict::right);
  // 300e9 x 2.46 J = 205 MWh
  expect_verdict(finding_of(audit("300B tokens at 2.46 J/token take 205 kWh."), "205 kWh"), Verdict::wrong, 7.38e11);
  expect_verdict(finding_of(audit("The GB200 NVL72 has 36 GPUs."), "36 GPUs"), Verdict::wrong, 72);
  expect_verdict(finding_of(audit("Renting 512 H100 for 14 days costs $100k."), "$100k"), Verdict::wrong);
  expect_verdict(finding_of(audit("Llama 3 70B needs 140 GB in FP16."), "140 GB"), Verdict::right);
}

TEST(Sentence, CountsOfDevicesAndBitsAreHeeded) {
  const Audit eight = audit("DeepSeek-R1 fits on 8 H200 in FP8.");
  ASSERT_EQ(eight.findings.size(), 1u);
  expect_verdict(eight.findings[0], Verdict::right);
  const Audit none = audit("An L40S cannot hold Llama 3 70B in INT8.");
  ASSERT_EQ(none.findings.size(), 1u);
  expect_verdict(none.findings[0], Verdict::right);
  expect_verdict(finding_of(audit("NVLink 4 moves 900 Gb/s."), "900 Gb/s"), Verdict::unit, 900e9);
  expect_verdict(finding_of(audit("The port carries 400 Gb/s (40 GB/s)."), "40 GB/s"), Verdict::wrong, 50e9);
  // Rounded inputs may move the result: 15T and 40 % give 70.6 days.
  expect_verdict(
      finding_of(audit("Training Llama 3.1 405B on 15T tokens with 16,384 H100s at 40% MFU takes 72 days."), "72 days"),
      Verdict::rounded);
}

TEST(Sentence, MlperfResultsOfARackAreNotThoseOfAGpu) {
  const Audit found = audit(
      "In MLPerf v5.1 the GB200 NVL72 reached 289,712 tokens/s on DeepSeek-R1 offline, or 72,428 tokens/s per GPU.");
  expect_verdict(finding_of(found, "289,712 tokens/s"), Verdict::right);
  expect_verdict(finding_of(found, "72,428 tokens/s per GPU"), Verdict::wrong, 4023.8);
}

TEST(Sentence, AnMlperfResultOfNothingSaysWhyItCannotBeChecked) {
  const Audit found = audit("8x H200 reached 0 tokens/s on Llama 2 70B offline in MLPerf v4.1.");
  const Finding result = finding_of(found, "0 tokens/s");
  expect_verdict(result, Verdict::cannot_check);
  EXPECT_FALSE(result.because.empty());
}

constexpr std::string_view kTable =
    "# Cards\n\n"
    "| Card | FP16 | Memory | Bandwidth (GB/s) | TDP |\n"
    "|------|------|--------|------------------|-----|\n"
    "| **H100 SXM** | 1,979 TFLOPS | 80 GB | 3350 | 700 W |\n"
    "| MI300X | 1,307 TFLOPS | 192 GB | 5300 | 750 W |\n";

TEST(Table, EveryCellIsAClaimOfItsRow) {
  const Audit found = audit(kTable);
  EXPECT_EQ(found.findings.size(), 8u);
  expect_verdict(finding_of(found, "1,979 TFLOPS"), Verdict::sparse);
  expect_verdict(finding_of(found, "192 GB"), Verdict::right);
  EXPECT_EQ(finding_of(found, "1,979 TFLOPS").claim.line, 5u);
}

TEST(Table, RowsMayAllStandOnOneLine) {
  std::string flat(kTable);
  std::replace(flat.begin(), flat.end(), '\n', ' ');
  EXPECT_EQ(audit(flat).findings.size(), audit(kTable).findings.size());
}

TEST(Table, ResultsPerAcceleratorAreRecomputed) {
  const Audit found = audit(
      "4.1. Llama2-70b\n\n"
      "Accelerator Scenario Avg Total Result per Accelerator Avg Accelerators\n"
      "NVIDIA GB200 Offline 288000.00 72000.00 72.0\n"
      "NVIDIA B200-SXM-180GB Offline 32000.00 4000.00 8.0\n"
      "NVIDIA L40S Offline 864 108 8.0\n\n"
      "GB200's performance per accelerator is far higher than B200.\n");
  expect_verdict(finding_of(found, "72000.00"), Verdict::wrong, 4000);
  expect_verdict(finding_of(found, "4000.00"), Verdict::right);
  const auto words = std::find_if(found.findings.begin(), found.findings.end(),
                                  [](const Finding& f) { return f.claim.kind == "results"; });
  ASSERT_NE(words, found.findings.end());
  expect_verdict(*words, Verdict::wrong, 1.0);
}

TEST(Table, UnitsMayStandInTheHeader) {
  const Audit found = audit(
      "| GPU | $/hr | Est. tok/s | $/M tok |\n|---|---|---|---|\n| H100 SXM | $2.00 | 1,000 | $0.56 |\n| B200 | $4.00 "
      "| 2,000 | $0.90 |\n");
  ASSERT_EQ(found.findings.size(), 2u);
  expect_verdict(found.findings[0], Verdict::right);
  expect_verdict(found.findings[1], Verdict::wrong, 0.5556e-6);
}

TEST(Document, FiguresThatAreNotUnderstoodAreListedWithTheirLine) {
  const Audit found = audit("Intro.\n\nThe market grew by 40% to $12 billion.\n");
  EXPECT_TRUE(found.findings.empty());
  ASSERT_EQ(found.not_understood.size(), 2u);
  EXPECT_EQ(found.not_understood[0].line, 3u);
}

TEST(Table, PartsMayHeadTheColumns) {
  const Audit found = audit(
      "| Spec | H100 SXM | A100 SXM 80GB | H100 vs A100 |\n|-|-|-|-|\n| Memory | 80 GB | 80 GB | same |\n"
      "| Memory bandwidth (TB/s) | 3.35 | 1.2 | 2.8x |\n| FP16 Tensor Core | 1,979 TFLOPS | 312 TFLOPS | |\n"
      "| FP8 Tensor Core* | 3,958 TFLOPS* | none | |\n| Total memory (8 GPUs) | 640 GB | 640 GB | |\n");
  EXPECT_EQ(found.findings.size(), 6u);
  expect_verdict(finding_of(found, "1.20 TB/s"), Verdict::wrong, 2.039e12);
  expect_verdict(finding_of(found, "1,979 TFLOPS"), Verdict::sparse);
  expect_verdict(finding_of(found, "312 TFLOPS"), Verdict::right);
}

TEST(Document, CodeClaimsNothing) {
  EXPECT_TRUE(
      audit("```sh\nridge estimate --device h200-sxm --set hbm_bandwidth=8 TB/s memory H200\n```\n").findings.empty());
  const Audit after = audit("```\nx = 1\n```\nThe H200 has 4.8 GB/s of memory bandwidth.\n");
  ASSERT_EQ(after.findings.size(), 1u);
  EXPECT_EQ(after.findings[0].claim.line, 4u);
}

TEST(Document, TextThatWasReadInTheWrongCodePageIsRepaired) {
  // A dash and a multiplication sign, UTF-8 read as Windows-1252.
  const Audit found = audit("The node has 2 TB of memory (192 GB \xC3\x83\xE2\x80\x94 8 cards).");
  expect_verdict(finding_of(found, "2 TB"), Verdict::wrong);
}

TEST(Document, ChineseTextWithFiguresIsRead) {
  const Audit found = audit("H200 的 memory bandwidth 为 4.8 GB/s。");
  expect_verdict(finding_of(found, "4.8 GB/s"), Verdict::unit);
}

// Who is compared with stands before the factor, and a space before the word for it is common.
TEST(Sentence, ChineseComparisonsAreReadInTheirOrder) {
  for (const char* text : {"H200的显存带宽是A100的2.4倍", "H200 的显存带宽是 A100 的 2.4 倍"}) {
    expect_verdict(audit(text).findings.at(0), Verdict::right);
  }
  expect_verdict(audit("H200 的显存带宽是 A100 的 5 倍").findings.at(0), Verdict::wrong);
}

TEST(Hostile, BinaryIsRefusedAndLargeTextToo) {
  EXPECT_FALSE(checker().check_text(std::string_view("ab\0cd", 5), "x"));
  EXPECT_FALSE(checker().check_text(std::string(Checker::kLargestDocument + 1, 'a'), "x"));
}

TEST(Hostile, GiganticLinesMalformedUtf8AndBrokenTablesEndWell) {
  (void)audit(std::string(200'000, '|'));
  (void)audit("|" + std::string(100'000, '-') + "|");
  (void)audit(std::string(300'000, '9'));
  std::string long_line;
  for (int i = 0; i < 5000; ++i) long_line += "H200 4.8 TB/s from 1% to 2% x (";
  (void)audit(long_line);
  (void)audit("\xFF\xFE\xC3(\xE2\x82 H200 has 4.8 TB/s of memory bandwidth \xF0\x9F");
  (void)audit("$$$ ~~~ <<<>>> ### |---|---| |---|");
}

TEST(Hostile, RandomBytesAndShuffledWordsDoNotCrash) {
  std::mt19937 random(7);
  const std::vector<std::string> words = {
      "H200",  "B200",        "4.8 TB/s", "from",       "to",          "34%",          "2.5x",
      "|",     "---",         "\n",       "$3.39/h",    "Llama 3 70B", "KV",           "128K",
      "than",  "that of the", "(",        ")",          "FP8",         "memory",       "bandwidth",
      "batch", "1",           "tok/s",    "8*",         "per",         "respectively", ";",
      "has",   "eight",       "-80 GB",   "is",         "costs",       "a billion",    "tokens",
      "1e300", "0 W",         "fits on",  "MFU",        "PUE of 1.2",  "$2 an hour",   "a year",
      "needs", "56 billion",  "layers",   "parameters", "released in", "2022",         "=",
      "*",     "x",           "vs",       "can't",      "runs",        "in",           "."};
  for (int round = 0; round < 600; ++round) {
    std::string text;
    const auto length = 3 + random() % 60;
    for (std::size_t i = 0; i < length; ++i) text += words[random() % words.size()] + " ";
    (void)audit(text);
  }
  for (int round = 0; round < 100; ++round) {
    std::string bytes;
    for (int i = 0; i < 500; ++i) bytes += static_cast<char>(1 + random() % 255);
    (void)checker().check_text(bytes, "bytes");
  }
}

}  // namespace
}  // namespace ridge::test
