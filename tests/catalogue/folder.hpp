// A folder that is gone when the test is over, and catalogues made of a few lines.
//
//   Folder folder;
//   std::string path = folder.write("mine.toml", "[[device]]\n...");
//   Result<Catalogue> c = folder.load_with("mine.toml", "[[device]]\n...");   // on top of a small catalogue
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "ridge/catalogue/catalogue.hpp"

namespace ridge {

class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ridge-test-XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }

  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << text;
    return path(name);
  }

  /// A data directory with one source, one architecture and one device ("base").
  [[nodiscard]] std::string small_catalogue() const {
    write("data/sources/one.toml",
          "[[source]]\nid = \"sheet\"\ntitle = \"Sheet\"\nwhere = \"here\"\ndate = \"2026-01\"\nkind = \"vendor\"\n\n"
          "[[source]]\nid = \"own\"\ntitle = \"Own\"\nwhere = \"there\"\ndate = \"2026-02-03\"\nkind = "
          "\"measurement\"\n");
    write("data/architectures.toml",
          "[[architecture]]\nid = \"hopper\"\nname = \"Hopper\"\nvendor = \"NVIDIA\"\nsource = \"sheet\"\n"
          "bf16_flops_per_core_clock = 4096\nhighest_clock = \"1980 MHz\"\n"
          "rate_over_bf16 = { tf32 = 0.5, fp16 = 1, fp8 = 2, int8 = 2 }\n");
    write(
        "data/devices/base.toml",
        "[[device]]\nid = \"base\"\nname = \"Base\"\nvendor = \"NVIDIA\"\narchitecture = \"hopper\"\nyear = 2024\n"
        "form = \"sxm\"\nstatus = \"shipping\"\nconfidence = \"primary\"\nsource = \"sheet\"\n\n"
        "[device.peak_dense]\nbf16 = \"989.4 TFLOP/s\"\nfp8 = \"1978.9 TFLOP/s\"\n\n"
        "[device.memory]\ncapacity = \"141 GB\"\nbandwidth = \"4.8 TB/s\"\nl2 = { value = \"60 MB\", source = \"own\" "
        "}\n\n[device.cores]\ncount = 132\nboost_clock = \"1830 MHz\"\n\n[device.power]\ntdp = \"700 W\"\n\n"
        "[[device.partition]]\nname = \"mig-3g.71gb\"\ncompute_share = 0.4286\nbandwidth_share = 0.5\nmemory = \"71 "
        "GB\"\n");
    return path("data");
  }

  /// The small catalogue with one overlay.
  [[nodiscard]] Result<Catalogue> load_with(const std::string& name, const std::string& overlay) const {
    return Catalogue::load(
        {.data_directory = small_catalogue(), .overlays = {write(name, overlay)}, .price_lists = {}});
  }

 private:
  std::filesystem::path path_;
};

/// Expects that the overlay mine.toml is refused at `line:column` with a message that has `part` in it.
inline void expect_refused(const std::string& overlay, const std::string& line_and_column, const std::string& part) {
  const Folder folder;
  const Result<Catalogue> loaded = folder.load_with("mine.toml", overlay);
  ASSERT_FALSE(loaded.ok()) << overlay;
  EXPECT_EQ(loaded.error().where, folder.path("mine.toml") + (line_and_column.empty() ? "" : ":" + line_and_column))
      << loaded.error().message;
  EXPECT_NE(loaded.error().message.find(part), std::string::npos) << loaded.error().message;
}

}  // namespace ridge
