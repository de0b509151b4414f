// The devices that were measured and come with the data: what their profiles gain, on their own points and on steps of
// whole models that the fit has not seen.
//
//   Result<std::vector<MeasuredFinding>> found = measured_findings("data", knowledge);
//   found->front().device;        // "h200-sxm"
//   found->front().steps.back();  // all steps of its models: median and worst error before and after
//
// Refuses what read_measurement(), device_like() and fit_measured() refuse. Reads files; any thread.
#pragma once

#include <string>
#include <vector>

#include "evidence/measured/device.hpp"
#include "ridge/base/result.hpp"
#include "ridge/perf/inference.hpp"

namespace ridge::evidence {

struct MeasuredFinding {
  std::string device;                ///< id of the catalogue
  std::string date;                  ///< "2026-11-15"
  std::string driver;                ///< of the GPU
  std::vector<std::string> models;   ///< whose steps were timed
  std::vector<MeasuredGain> points;  ///< in sample: what the fit was made of
  std::vector<MeasuredGain> steps;   ///< not seen by the fit: by phase and format, then all; empty without models
};

/// Of the profiles under `data_directory`/profiles, in the order of their names.
Result<std::vector<MeasuredFinding>> measured_findings(const std::string& data_directory, const Knowledge& knowledge);

}  // namespace ridge::evidence
