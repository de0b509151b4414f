#include "report/page/provenance.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ridge::report {

std::vector<std::string> sources_of(const Catalogue& catalogue, const std::vector<std::string>& models,
                                    const std::vector<std::string>& devices) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& id, SourceId source) {
    const Source& s = catalogue.source(source);
    std::string line = fmt::format("{}: {} ({}, {})", id, s.title, s.where, s.date);
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(std::move(line));
  };
  for (const std::string& id : models) {
    if (const Model* model = catalogue.model(id)) add(id, SourceId{model->source});
  }
  for (const std::string& id : devices) {
    if (const Device* device = catalogue.device(id.substr(0, id.find('/')))) add(id, device->source);
  }
  return lines;
}

}  // namespace ridge::report
