// The bundled models against what their publishers say, and against each other.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>

#include "bundled.hpp"
#include "ridge/base/csv.hpp"
#include "ridge/base/file.hpp"
#include "ridge/base/text.hpp"

namespace ridge {
namespace {

using testing_support::bundled;

const Model& model(const std::string& id) {
  const Model* found = bundled().model(id);
  EXPECT_NE(found, nullptr) << id;
  static const Model kNone;
  return found != nullptr ? *found : kNone;
}

/// Within 1 %, or within the rounding of the published figure.
bool agrees(double computed, const std::optional<double>& published, double rounding) {
  if (!published) return true;
  const double off = std::fabs(computed - *published);
  return off <= 0.01 * *published || off <= rounding;
}

bool agrees(const Model& m) {
  const Parameters p = count_parameters(m);
  return agrees(p.total, m.published.total, m.published.total_rounding) &&
         agrees(p.active, m.published.active, m.published.active_rounding);
}

// Each with its reason in the model's own file, under [model.published] exception.
const std::set<std::string>& exceptions() {
  static const std::set<std::string> kExceptions = {"deepseek-r1",
                                                    "deepseek-v2-lite",
                                                    "deepseek-v3",
                                                    "deepseek-v3.1",
                                                    "deepseek-v3.2",
                                                    "deepseek-v4-flash",
                                                    "deepseek-v4-pro",
                                                    "ernie-4.5-300b-a47b",
                                                    "gemma4-26b-a4b",
                                                    "glm-4.5",
                                                    "glm-4.5-air",
                                                    "glm-4.6",
                                                    "glm-4.7",
                                                    "glm-4.7-flash",
                                                    "glm-5",
                                                    "glm-5.1",
                                                    "glm-5.2",
                                                    "gpt-oss-120b",
                                                    "gpt-oss-20b",
                                                    "grok-1",
                                                    "kimi-k2",
                                                    "cosmos3-nano",
                                                    "inkling",
                                                    "inkling-small",
                                                    "glm-4.5v",
                                                    "glm-4.6v",
                                                    "longcat-flash",
                                                    "macaron-v1-coding-venti",
                                                    "minimax-m2.1",
                                                    "mistral-large-3",
                                                    "kimi-k2.5",
                                                    "kimi-k2.6",
                                                    "kimi-k2.7-code",
                                                    "llama4-scout",
                                                    "minimax-m2",
                                                    "minimax-text-01",
                                                    "mistral-small-4",
                                                    "nemotron-3-super-120b-a12b",
                                                    "qwen3-30b-a3b",
                                                    "sana1.5-4.8b",
                                                    "sdxl-unet",
                                                    "nemotron-3-ultra-550b-a55b",
                                                    "qwen3-coder-30b-a3b",
                                                    "qwen3-next-80b-a3b",
                                                    "qwen3-vl-30b-a3b",
                                                    "wan2.1-t2v-1.3b"};
  return kExceptions;
}

TEST(BundledModels, HaveThePublishedNumberOfParameters) {
  EXPECT_GE(bundled().models().size(), 250);
  for (const Model& m : bundled().models()) {
    const Parameters p = count_parameters(m);
    if (exceptions().contains(m.id)) continue;
    EXPECT_TRUE(agrees(m)) << m.id << ": computed " << p.total << " and " << p.active << ", published "
                           << m.published.total.value_or(0) << " and " << m.published.active.value_or(0);
  }
}

TEST(BundledModels, ThatDifferFromThePublishedNumberSayWhyAndOnlyThey) {
  for (const Model& m : bundled().models()) {
    EXPECT_EQ(exceptions().contains(m.id), !m.count_exception.empty()) << m.id;
    EXPECT_TRUE(m.count_exception.empty() || !agrees(m)) << m.id << ": the exception is needed no more";
  }
  for (const std::string& id : exceptions()) EXPECT_NE(bundled().model(id), nullptr) << id;
}

// Numbers of elements in the published weights.
TEST(BundledModels, HaveThePublishedNumberOfParametersToTheLastOne) {
  const std::map<std::string, double> published = {{"llama2-7b", 6'738'415'616},
                                                   {"llama2-13b", 13'015'864'320},
                                                   {"llama2-70b", 68'976'648'192},
                                                   {"llama3.1-8b", 8'030'261'248},
                                                   {"llama3.1-70b", 70'553'706'496},
                                                   {"llama3.1-405b", 405'853'388'800},
                                                   {"llama3.2-1b", 1'235'814'400},
                                                   {"llama3.2-3b", 3'212'749'824},
                                                   {"tinyllama-1.1b", 1'100'048'384},
                                                   {"mistral-7b", 7'241'732'096},
                                                   {"mistral-7b-v0.3", 7'248'023'552},
                                                   {"mistral-nemo-12b", 12'247'782'400},
                                                   {"mistral-small-24b", 23'572'403'200},
                                                   {"mixtral-8x7b", 46'702'792'704},
                                                   {"codestral-22b", 22'247'282'688},
                                                   {"qwen2.5-0.5b", 494'032'768},
                                                   {"qwen2.5-7b", 7'615'616'512},
                                                   {"qwen2.5-72b", 72'706'203'648},
                                                   {"qwen3-0.6b", 596'049'920},
                                                   {"qwen3.5-2b", 1'881'825'088},
                                                   {"qwen3-8b", 8'190'735'360},
                                                   {"qwen3-30b-a3b", 30'532'122'624},
                                                   {"qwen3-235b-a22b", 235'093'634'560},
                                                   {"qwen1.5-moe-a2.7b", 14'315'784'192},
                                                   {"deepseek-v2-lite", 15'706'484'224},
                                                   {"deepseek-v3", 671'026'419'200},
                                                   {"deepseek-moe-16b", 16'375'728'128},
                                                   {"gpt-oss-20b", 20'914'757'184},
                                                   {"gpt-oss-120b", 116'829'156'672},
                                                   {"gemma-2b", 2'506'172'416},
                                                   {"gemma2-2b", 2'614'341'888},
                                                   {"gemma2-9b", 9'241'705'984},
                                                   {"gemma2-27b", 27'227'128'320},
                                                   {"gemma3-1b", 999'885'952},
                                                   {"phi3-mini", 3'821'079'552},
                                                   {"phi3-small", 7'392'272'384},
                                                   {"phi4", 14'659'507'200},
                                                   {"phi3.5-moe", 41'873'153'344},
                                                   {"falcon-7b", 6'921'720'704},
                                                   {"falcon-180b", 179'522'565'120},
                                                   {"bloom-176b", 176'247'271'424},
                                                   {"bloom-7b1", 7'069'016'064},
                                                   {"gpt2", 124'439'808},
                                                   {"gpt2-xl", 1'557'611'200},
                                                   {"gpt-j-6b", 6'050'882'784},
                                                   {"gpt-neox-20b", 20'554'567'680},
                                                   {"pythia-12b", 11'846'072'320},
                                                   {"opt-6.7b", 6'658'473'984},
                                                   {"starcoder2-15b", 15'957'889'024},
                                                   {"command-r-plus", 103'810'674'688},
                                                   {"dbrx", 131'596'523'520},
                                                   {"olmoe-1b-7b", 6'919'161'856},
                                                   {"yi-34b", 34'388'917'248},
                                                   {"flux.1-dev", 11'901'408'320},
                                                   {"sd3-medium", 2'028'328'000}};
  for (const auto& [id, total] : published) EXPECT_EQ(count_parameters(model(id)).total, total) << id;
}

TEST(BundledModels, AgreeWithTheTableTheyWereCompiledFrom) {
  Result<std::string> text = read_file(std::string(RIDGE_TEST_DIR) + "/catalogue/known_models.csv", 1'000'000);
  ASSERT_TRUE(text.ok()) << text.error().text();
  const Result<CsvTable> table = CsvTable::parse(*std::move(text), "known_models.csv");
  ASSERT_TRUE(table.ok()) << table.error().text();
  EXPECT_EQ(table->rows(), 71);
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const std::string id(table->cell(row, 0));
    const double total = std::stod(std::string(table->cell(row, 1))) * 1e9;
    const double kv = std::stod(std::string(table->cell(row, 2)));
    EXPECT_NEAR(count_parameters(model(id)).total / total, 1, 0.01) << id;
    EXPECT_EQ(kv_bytes_per_token(model(id), 2).value(), kv) << id;
  }
}

// 2 x layers x kv_heads x head_dim x bytes x tokens; 576 x 61 x 2 x tokens for latent attention.
TEST(BundledModels, NeedTheKnownKvMemory) {
  const auto gigabytes_of = [](const std::string& id, int tokens) {
    return kv_bytes_per_sequence(model(id), 2, tokens).value() / 1e9;
  };
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-70b", 4096), 1.34217728);
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-70b", 32768), 10.73741824);
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-70b", 131072), 42.94967296);
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-70b", 1048576), 343.59738368);
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-8b", 4096), 0.536870912);
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-8b", 32768), 4.294967296);
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-8b", 131072), 17.179869184);
  EXPECT_DOUBLE_EQ(gigabytes_of("llama3-8b", 1048576), 137.438953472);
  EXPECT_NEAR(gigabytes_of("deepseek-v3", 131072), 9.210691584, 0.001 * 9.210691584);
}

TEST(BundledModels, WithWindowsStopGrowing) {
  // gpt-oss: every second of 36 layers sees 128 tokens; 2 x 8 x 64 elements of two bytes a layer
  EXPECT_EQ(kv_bytes_per_token(model("gpt-oss-120b"), 2, 127), bytes(36 * 2048));
  EXPECT_EQ(kv_bytes_per_token(model("gpt-oss-120b"), 2, 128), bytes(18 * 2048));
  // Mistral 7B v0.1: all layers see 4,096
  EXPECT_EQ(kv_bytes_per_sequence(model("mistral-7b"), 2, 1 << 20),
            kv_bytes_per_sequence(model("mistral-7b"), 2, 4096));
  // Gemma 3 27B: 10 of 62 layers see everything (the 6th, 12th, ... 60th)
  EXPECT_EQ(kv_bytes_per_token(model("gemma3-27b"), 2, 1024), bytes(10 * 2 * 16 * 128 * 2));
}

TEST(BundledModels, KeepTheOrderOfTheirLayers) {
  for (const Model& m : bundled().models()) {
    EXPECT_EQ(m.order.size(), static_cast<std::size_t>(m.layers())) << m.id;
    std::vector<int> counts(m.groups.size());
    for (const std::uint16_t group : m.order) {
      ASSERT_LT(group, m.groups.size()) << m.id;
      ++counts[group];
    }
    for (std::size_t i = 0; i < counts.size(); ++i) EXPECT_EQ(counts[i], m.groups[i].count) << m.id;
  }
  const Model& v3 = model("deepseek-v3");
  EXPECT_EQ(v3.groups[v3.order[2]].ffn.kind, FfnKind::dense);
  EXPECT_EQ(v3.groups[v3.order[3]].ffn.kind, FfnKind::moe);
  const Model& maverick = model("llama4-maverick");
  EXPECT_EQ(maverick.groups[maverick.order[0]].ffn.kind, FfnKind::dense);
  EXPECT_EQ(maverick.groups[maverick.order[1]].ffn.kind, FfnKind::moe);
  EXPECT_EQ(maverick.groups[maverick.order[3]].mixer.window, 0);
  EXPECT_EQ(maverick.groups[maverick.order[4]].mixer.window, 8192);
}

TEST(BundledModels, OfDiffusionSayWhatABlockIs) {
  const Model& flux = model("flux.1-dev");
  EXPECT_EQ(flux.type, ModelType::diffusion_dit);
  EXPECT_EQ(flux.diffusion.block, "mmdit_double:19,single_parallel:38");
  EXPECT_EQ(flux.layers(), 57);
  EXPECT_EQ(flux.groups[0].dit.streams, 2);
  EXPECT_TRUE(flux.groups[1].dit.parallel);
  EXPECT_EQ(kv_bytes_per_token(flux, 2), bytes(0));
  EXPECT_EQ(model("sdxl-unet").diffusion.flops_per_evaluation, 5.98e12);
  EXPECT_EQ(model("sdxl-unet").diffusion.passes_per_step, 2);
}

TEST(BundledModels, NameASourceAndAPlace) {
  for (const Model& m : bundled().models()) {
    EXPECT_GT(m.source, 0) << m.id;
    EXPECT_LT(m.source, bundled().sources().size()) << m.id;
    EXPECT_TRUE(testing_support::contains(m.file, m.id + ".toml"));
    EXPECT_EQ(m.line, 1) << m.id;
  }
}

TEST(BundledModels, OfContextTakeTheirOwnRelease) {
  EXPECT_EQ(model("llama3-8b").context, 8192);
  EXPECT_EQ(model("llama3.1-8b").context, 131072);
  EXPECT_EQ(model("phi3-mini").context, 131072);
  EXPECT_EQ(model("kimi-k2.5").context, 262144);  // based on kimi-k2, whose context is 131,072
  EXPECT_EQ(model("kimi-k2.5").quantization, "int4");
}

// An inline spec of the same shape is the same model.
TEST(BundledModels, EqualTheirInlineSpecs) {
  const std::map<std::string, std::string> specs = {
      {"llama3.1-8b", "dense:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=14336,gated=1,vocab=128256,tied=0"},
      {"llama3.2-1b", "dense:layers=16,hidden=2048,heads=32,kv_heads=8,ffn=8192,gated=1,vocab=128256,tied=1"},
      {"mistral-nemo-12b",
       "dense:layers=40,hidden=5120,heads=32,kv_heads=8,ffn=14336,gated=1,vocab=131072,tied=0,head_dim=128"},
      {"mixtral-8x7b",
       "moe:layers=32,hidden=4096,heads=32,kv_heads=8,ffn=0,gated=1,vocab=32000,tied=0,experts=8,topk=2,shared=0,"
       "moe_ffn=14336"},
      {"deepseek-moe-16b",
       "moe:layers=28,hidden=2048,heads=16,kv_heads=16,ffn=10944,gated=1,vocab=102400,tied=0,experts=64,topk=6,"
       "shared=2,moe_ffn=1408,dense_layers=1"}};
  for (const auto& [id, text] : specs) {
    const Result<Model> parsed = parse_model_spec(text);
    ASSERT_TRUE(parsed.ok()) << parsed.error().text();
    const Parameters one = count_parameters(*parsed);
    const Parameters other = count_parameters(model(id));
    EXPECT_EQ(one.total, other.total) << id;
    EXPECT_EQ(one.active, other.active) << id;
    EXPECT_EQ(kv_bytes_per_token(*parsed, 2), kv_bytes_per_token(model(id), 2)) << id;
    EXPECT_EQ(parsed->order, model(id).order) << id;
  }
}

// DeepSeek-V4: 284.33B are counted in the checkpoint of Flash; at a million tokens Pro keeps 9.5 and Flash 13.7 times
// less than V3.2 (report, figure 1), whose index keys are wider than counted here.
TEST(ModelData, SharedAndCompressedKeysAreThoseOfDeepSeekV4) {
  const Model* flash = bundled().model("deepseek-v4-flash");
  const Model* pro = bundled().model("deepseek-v4-pro");
  const Model* before = bundled().model("deepseek-v3.2");
  ASSERT_TRUE(flash != nullptr && pro != nullptr && before != nullptr);
  EXPECT_NEAR(count_parameters(*flash).total / 284.33e9, 1, 0.002);
  EXPECT_NEAR((count_parameters(*pro).total + mtp_layer_parameters(*pro)) / 1.6e12, 1, 0.002);
  // The checkpoint of Pro has 862B entries: two FP4 weights of an expert in one, a scale for each 32 of them.
  const double stored = count_parameters(*pro).total + mtp_layer_parameters(*pro);
  const double experts = count_parameters(*pro).routed_experts * 62 / 61;
  EXPECT_NEAR((stored - experts + experts / 2 + experts / 32) / 862e9, 1, 0.002);
  EXPECT_NEAR(count_parameters(*pro).active / 49e9, 1, 0.03);
  constexpr int kMillion = 1 << 20;
  const double v32 = kv_bytes_per_sequence(*before, 1, kMillion).value();
  EXPECT_NEAR(v32 / kv_bytes_per_sequence(*pro, 1, kMillion).value(), 9.5, 1.5);
  EXPECT_NEAR(v32 / kv_bytes_per_sequence(*flash, 1, kMillion).value(), 13.7, 2.5);
  // Within the window every token has an entry of its own, and one more for every 4 or 128.
  EXPECT_GT(kv_bytes_per_token(*flash, 2, 0), kv_bytes_per_token(*flash, 2, 128));
}

// Forty of the 86 config.json that ai-dynamo/aiconfigurator keeps at 095f58a, drawn once (Python's
// random.Random(27).sample over their sorted names); public/ has the keys that say the shape. Published totals are
// those of the models' cards.
TEST(ModelData, ARandomSampleOfPublicConfigurationsIsCountedWithinOnePercent) {
  const std::string folder = std::string(RIDGE_TEST_DIR) + "/catalogue/";
  Result<std::string> text = read_file(folder + "public_configs.csv", 1'000'000);
  ASSERT_TRUE(text);
  const Result<CsvTable> table = CsvTable::parse(*std::move(text), "public_configs.csv");
  ASSERT_TRUE(table) << table.error().text();
  ASSERT_EQ(table->rows(), 40u);
  for (std::size_t row = 0; row < table->rows(); ++row) {
    const std::string name(table->cell(row, *table->column("file")));
    const Result<std::string> config = read_file(folder + "public/" + name + ".json", 1'000'000);
    ASSERT_TRUE(config) << name;
    const Result<Model> read = parse_hf_config(*config, name);
    ASSERT_TRUE(read) << read.error().text();
    const Result<double> published = parse_count(table->cell(row, *table->column("published")));
    ASSERT_TRUE(published) << name;
    double counted = count_parameters(*read).total;
    const std::string id(table->cell(row, *table->column("id")));
    if (!id.empty()) {
      EXPECT_EQ(counted, count_parameters(model(id)).total) << name;
    }
    if (table->cell(row, *table->column("with")) == "mtp") counted += read->mtp_layers * mtp_layer_parameters(*read);
    EXPECT_NEAR(counted / *published, 1, 0.01) << name;
  }
}

}  // namespace
}  // namespace ridge
