// The machine that runs the tests, looked at without root and without changing anything.
#include "app/cli/site/host_collect.hpp"

#include <gtest/gtest.h>

#include "ridge/catalogue/catalogue.hpp"

namespace ridge::cli {
namespace {

TEST(HostCollect, ThisMachineCanBeLookedAtAndJudged) {
  const HostRecording r = collect_host();
  EXPECT_FALSE(r.host.empty());
  EXPECT_EQ(r.collected.size(), 10u);
  EXPECT_TRUE(r.files.count("/proc/mounts"));
  const auto back = parse_recording(recording_text(r), "here.toml");
  ASSERT_TRUE(back) << back.error().text();
  const auto catalogue = Catalogue::load({.data_directory = RIDGE_DATA_DIR, .overlays = {}, .price_lists = {}});
  ASSERT_TRUE(catalogue);
  const auto data = load_facility(std::string(RIDGE_DATA_DIR) + "/facility", *catalogue);
  ASSERT_TRUE(data) << data.error().text();
  const HostDiagnosis d = diagnose(*back, *data);
  EXPECT_EQ(d.findings.size(), data->rules.size());
  EXPECT_TRUE(d.facts.count("kernel.release"));
}

TEST(HostCollect, CommandsOnlyLook) {
  for (const std::string_view command : recorded_commands()) {
    for (const char* changing :
         {" -pm", " -pl", " -mig", " -e ", "--gpu-reset", "set-", " -w", ">", "rm ", "sudo", "--pfc"}) {
      EXPECT_EQ(command.find(changing), std::string_view::npos) << command;
    }
  }
}

}  // namespace
}  // namespace ridge::cli
