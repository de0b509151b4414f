// Any text is a recording or an error with its place; a recording can be judged, and is written so that it reads back.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "ridge/facility/doctor.hpp"

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto recording = ridge::parse_recording(text, "f.toml");
  if (!recording) {
    require(recording.error().where.starts_with("f.toml") && !recording.error().message.empty());
    return 0;
  }
  static const ridge::FacilityData kNothing;
  require(ridge::diagnose(*recording, kNothing).findings.empty());
  const auto again = ridge::parse_recording(ridge::recording_text(*recording), "f.toml");
  require(again.ok() && again->files == recording->files && again->tools.size() == recording->tools.size());
  return 0;
}
