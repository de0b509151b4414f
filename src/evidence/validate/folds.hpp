// What is left out together in cross-validation: a whole model, a whole device, a whole publisher.
//
//   std::vector<Fold> folds = make_folds(cases, FoldBy::models, catalogue);
//   for (const Fold& fold : folds) fit_without(fold.cases), predict(fold.cases);
//
// A model is an architecture: equal shapes under different names fall into one fold, the vocabulary does not count. A
// publisher is who measured: all trtllm-* tables are one, all argonne-* tables, all training repositories of NVIDIA.
// Kernels have no model: there, a fold is a set of shapes ((n, k) of a product, heads of an attention). Pure; any
// thread.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "evidence/cases/case.hpp"
#include "ridge/catalogue/catalogue.hpp"

namespace ridge::evidence {

enum class FoldBy : std::uint8_t { models, devices, sources };
[[nodiscard]] std::string_view name(FoldBy by);

struct Fold {
  std::string name;                ///< what is left out; several small ones are joined by "+"
  std::vector<std::size_t> cases;  ///< positions, ascending
};

/// Layers, widths, heads and experts as text: equal for equal shapes, whatever the model is called.
[[nodiscard]] std::string shape_fingerprint(const Model& model);
/// "trtllm" of "trtllm-perf-overview-v1.1", "nvidia" of "NVIDIA-NeMo/Megatron-Bridge"; others are themselves.
[[nodiscard]] std::string publisher(std::string_view source);
/// What a product or an attention is a shape of; the batch is not part of it.
[[nodiscard]] std::string shape_key(const KernelCase& c);
/// What may not be split: the fingerprint, device or publisher of a case.
[[nodiscard]] std::string fold_key(const Case& c, FoldBy by, const Catalogue& catalogue);

/// Cases of equal key stay together. At most `limit` folds: beyond that, keys are dealt out, largest first, to the fold
/// that is smallest so far.
[[nodiscard]] std::vector<Fold> make_folds(std::span<const Case> cases, FoldBy by, const Catalogue& catalogue,
                                           std::size_t limit = 24);

}  // namespace ridge::evidence
