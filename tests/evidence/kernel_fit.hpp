// Fitting the operator models to measured kernels, and their error on shapes and devices they have not seen.
//
//   KernelFit fit = fit_kernels(calibration, cases, catalogue);
//   write_calibration(fit.calibration, "kernels");                     // the text of data/calibration/kernels.toml
//   std::vector<double> errors = cross_validate_kernels(calibration, cases, catalogue, kernel_folds(cases,
//   KernelFold::shapes));
//
// A fit starts from the priors, so that it does not depend on what was fitted before; deterministic for any number of
// threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "evidence/fit/fit.hpp"
#include "evidence/kernels/cases.hpp"

namespace ridge::evidence {

struct KernelFit {
  Calibration calibration;         ///< values to four digits, with the number of rows that inform each
  std::vector<double> log_errors;  ///< log(predicted/measured) of each case at those values; NaN if not predicted
};
/// Moves the fitted parameters of group "kernels". `left_out` marks cases by position; empty: none.
[[nodiscard]] KernelFit fit_kernels(const Calibration& calibration, std::span<const KernelCase> cases,
                                    const Catalogue& catalogue, const std::vector<bool>& left_out = {});

enum class KernelFold : std::uint8_t {
  shapes,   ///< (n, k) of products and experts, heads of attention, buffer size of collectives
  devices,  ///< one device after the other
};
/// The fold of each case, from 0 on without gaps. Shapes are dealt to ten folds.
[[nodiscard]] std::vector<std::size_t> kernel_folds(std::span<const KernelCase> cases, KernelFold by);
/// log(predicted/measured) of each case, predicted by a fit without its fold.
[[nodiscard]] std::vector<double> cross_validate_kernels(const Calibration& calibration,
                                                         std::span<const KernelCase> cases, const Catalogue& catalogue,
                                                         const std::vector<std::size_t>& folds);

}  // namespace ridge::evidence
