// Others' measurements as rows of evidence.
//
//   Result<ImportKind> kind = kind_of_file(text, "all_reduce.txt");              // told by what stands in it
//   Result<std::string> csv = import_measurements(*kind, text, "all_reduce.txt", options, catalogue);
//   // "id,source,device,op,...": what `ridge validate --cases` and `ridge calibrate --cases` read
//
// Understood: the output of nccl-tests (all_reduce_perf and its like), the JSON of `vllm bench serve --save-result`
// (an object, a list, or one object per line), the CSV of `nvidia-smi --query-gpu=...,power.draw,... --format=csv`, the
// aggregated JSON of InferenceX (formerly InferenceMAX). What a file does not say comes from the options. Refuses
// (bad_input), with file:line:column, or file#/key inside JSON: malformed text, figures that are no positive number,
// wrong results, models and devices that the catalogue does not have, what is neither said nor given. Pure; any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ridge/base/result.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::evidence {

enum class ImportKind : std::uint8_t { nccl_tests, vllm, nvidia_smi, inferencex };
[[nodiscard]] std::string_view name(ImportKind kind);
/// By the name used on the command line; nothing if there is none.
Result<ImportKind> parse_import_kind(std::string_view text);
/// By content. Refuses (bad_input) what looks like none of them.
Result<ImportKind> kind_of_file(std::string_view text, const std::string& file);

/// What files leave open; empty where the file has to say it.
struct ImportOptions {
  std::string model = {}, device = {}, engine = {}, engine_version = {}, precision = {}, source = {}, date = {};
  std::string work = {};  ///< of a power log
  double tp = 0, isl = 0, osl = 0;
};

Result<std::string> import_measurements(ImportKind kind, std::string_view text, const std::string& file,
                                        const ImportOptions& options, const Catalogue& catalogue);

}  // namespace ridge::evidence
