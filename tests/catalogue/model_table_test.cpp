// [[model]] tables: what a pattern means, and what is refused at which line and column.
#include <gtest/gtest.h>

#include "folder.hpp"

namespace ridge {
namespace {

// Every line of it can be replaced by its number.
constexpr const char* kLines[] = {
    "[[model]]",                // 1
    "id = \"m\"",               // 2
    "name = \"M\"",             // 3
    "layers = 6",               // 4
    "hidden = 64",              // 5
    "vocab = 100",              // 6
    "tied_embeddings = false",  // 7
    "source = \"sheet\"",       // 8
    "",                         // 9
    "[model.attention]",        // 10
    "kind = \"gqa\"",           // 11
    "heads = 4",                // 12
    "kv_heads = 2",             // 13
    "[model.ffn]",              // 14
    "width = 128",              // 15
};

/// The model with line `number` replaced, and `more` at the end.
std::string with(int number, const std::string& line, const std::string& more = "") {
  std::string text;
  for (int i = 1; i <= 15; ++i) text += (i == number ? line : kLines[i - 1]) + std::string("\n");
  return text + more;
}

Model load(const std::string& overlay) {
  const Folder folder;
  const Result<Catalogue> loaded = folder.load_with("mine.toml", overlay);
  EXPECT_TRUE(loaded.ok()) << loaded.error().text();
  return loaded ? *loaded->model("m") : Model{};
}

TEST(ModelTable, OfADenseModelIsOneGroup) {
  const Model model = load(with(0, ""));
  ASSERT_EQ(model.groups.size(), 1);
  EXPECT_EQ(model.layers(), 6);
  EXPECT_EQ(model.groups[0].mixer.head_dim, 16);
  EXPECT_EQ(model.groups[0].ffn.width, 128);
  EXPECT_TRUE(model.groups[0].ffn.gated);
}

TEST(ModelTable, PatternRepeatsOverTheLayers) {
  const Model model = load(with(9, "pattern = \"WWA\"", "[model.window]\ntokens = 8\nkv_heads = 4\n"));
  EXPECT_EQ(model.order, (std::vector<std::uint16_t>{0, 0, 1, 0, 0, 1}));
  EXPECT_EQ(model.groups[0].mixer.window, 8);
  EXPECT_EQ(model.groups[0].mixer.kv_heads, 4);
  EXPECT_EQ(model.groups[1].mixer.window, 0);
  EXPECT_EQ(model.groups[1].mixer.kv_heads, 2);
}

TEST(ModelTable, SmallLettersAreOnePartAlone) {
  const Model model = load(
      with(9, "pattern = \"mfa\"", "[model.mamba2]\nheads = 4\nhead_dim = 32\nstate = 16\ngroups = 1\nconv = 4\n"));
  ASSERT_EQ(model.groups.size(), 3);
  EXPECT_EQ(model.groups[0].mixer.kind, MixerKind::mamba2);
  EXPECT_EQ(model.groups[0].ffn.kind, FfnKind::none);
  EXPECT_EQ(model.groups[1].mixer.kind, MixerKind::none);
  EXPECT_EQ(model.groups[1].ffn.kind, FfnKind::dense);
  EXPECT_EQ(model.groups[2].mixer.kind, MixerKind::attention);
  EXPECT_EQ(model.groups[2].ffn.kind, FfnKind::none);
}

TEST(ModelTable, EachLayerMayHaveAWidthOfItsOwn) {
  const Model model = load(with(9, "ffn_widths = [128, 128, 64, 64, 64, 256]\npattern = \"AAAfff\""));
  ASSERT_EQ(model.groups.size(), 4U);
  EXPECT_EQ(model.groups[0].ffn.width, 128);
  EXPECT_EQ(model.groups[1].ffn.width, 64);
  EXPECT_EQ(model.groups[2].mixer.kind, MixerKind::none);
  EXPECT_EQ(model.groups[3].ffn.width, 256);
  expect_refused(with(9, "ffn_widths = [128, 64]"), "9:14", "2 widths for 6 layers");
}

TEST(ModelTable, ExpertsComeAfterTheDenseLayersOrEverySoMany) {
  const std::string experts = "[model.moe]\nexperts = 8\ntop_k = 2\nwidth = 32\n";
  EXPECT_EQ(load(with(0, "", experts + "first_dense_layers = 2\n")).order,
            (std::vector<std::uint16_t>{0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(load(with(0, "", experts + "every = 3\n")).order, (std::vector<std::uint16_t>{0, 0, 1, 0, 0, 1}));
}

TEST(ModelTable, PublishedCountsCarryTheirRounding) {
  const Model model = load(with(0, "", "[model.published]\ntotal = \"8.03B\"\nactive = \"37B\"\n"));
  EXPECT_DOUBLE_EQ(*model.published.total, 8.03e9);
  EXPECT_DOUBLE_EQ(model.published.total_rounding, 0.005e9);
  EXPECT_DOUBLE_EQ(*model.published.active, 37e9);
  EXPECT_DOUBLE_EQ(model.published.active_rounding, 0.5e9);
}

TEST(ModelTable, RefusesAtTheLineThatIsWrong) {
  expect_refused(with(4, "layers = 0"), "4:10", "0 is implausible for layers (1 to 4096)");
  expect_refused(with(9, "contxt = 64"), "9:1", "context");
  expect_refused(with(7, ""), "1:1", "tied_embeddings");
  expect_refused(with(11, "kind = \"gqq\""), "11:8", "gqa");
  expect_refused(with(12, "heads = 5"), "12:9", "say head_dim as well");
  expect_refused(with(13, "kv_heads = 3"), "13:12", "3 key-value heads do not divide 4 heads");
  expect_refused(with(9, "pattern = \"AX\""), "9:11", "'X' is none of");
  expect_refused(with(9, "pattern = \"AW\""), "9:11", "'W' needs [model.window]");
  expect_refused(with(9, "pattern = \"AAAAAAA\""), "9:11", "7 letters for 6 layers");
  expect_refused(with(0, "", "[model.window]\ntokens = 8\n"), "16:1", "no layer has the window");
  expect_refused(with(0, "", "[model.moe]\nexperts = 4\ntop_k = 5\nwidth = 8\n"), "18:9", "5 of 4 experts");
  expect_refused(with(0, "", "[model.published]\ntotal = \"many\"\n"), "17:9", "such as \"8.03B\"");
  expect_refused(with(11, "kind = \"mla\""), "10:1", "kv_lora_rank");
}

TEST(ModelTable, RefusesKeysOfAnotherKindOfAttention) {
  // multi-head attention has as many key-value heads as heads: the key would be read by nobody
  expect_refused(with(11, "kind = \"mha\""), "13:1", "kv_heads");
}

TEST(ModelTable, AUNetIsItsParametersAndItsWork) {
  const std::string unet =
      "[[model]]\nid = \"m\"\nname = \"M\"\ntype = \"diffusion-unet\"\nother_parameters = 1000\nsource = \"sheet\"\n"
      "[model.diffusion]\npatch = 1\nlatent_channels = 4\nvae_down = 8\npasses_per_step = 2\n";
  const Model model = load(unet + "flops_per_evaluation = \"2 TFLOP\"\n");
  EXPECT_EQ(count_parameters(model).total, 1000);
  EXPECT_EQ(model.diffusion.flops_per_evaluation, 2e12);
  EXPECT_EQ(model.layers(), 0);
  expect_refused(unet + "flops_per_evaluation = 2\n", "12:24", "unit");
}

}  // namespace
}  // namespace ridge
