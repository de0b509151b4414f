// Starting ridge-measure.
#include <fmt/format.h>

#include <filesystem>

#include "app/cli/evidence/measure.hpp"
#include "app/cli/session/program.hpp"

namespace ridge::cli {

namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "ridge-measure";

/// The shape of a catalogue model, as options; refuses what the plain decoder does not run.
Result<std::vector<std::string>> shape_options(Session& session, const std::string& name) {
  const Result<const Catalogue*> catalogue = session.catalogue();
  if (!catalogue) return catalogue.error();
  const Result<Model> model = (*catalogue)->find_model(name);
  if (!model) return model.error();
  const auto refuse = [&](std::string_view why) {
    return Error{ErrorCode::refused, name,
                 std::string(why) + "; `ridge measure model` runs dense decoders with heads of 128"};
  };
  if (model->type != ModelType::language || model->groups.size() != 1) return refuse("its layers are of several kinds");
  const LayerGroup& group = model->groups.front();
  if (group.mixer.kind != MixerKind::attention) return refuse("its layers have no softmax attention");
  if (group.ffn.kind != FfnKind::dense) return refuse("it has experts");
  if (group.mixer.head_dim != 128) return refuse(fmt::format("its heads have {} elements", group.mixer.head_dim));
  std::vector<std::string> words = {"--model",    name,
                                    "--layers",   std::to_string(model->layers()),
                                    "--hidden",   std::to_string(model->hidden),
                                    "--heads",    std::to_string(group.mixer.heads),
                                    "--kv-heads", std::to_string(group.mixer.kv_heads),
                                    "--head-dim", std::to_string(group.mixer.head_dim),
                                    "--ffn",      std::to_string(group.ffn.width),
                                    "--vocab",    std::to_string(model->vocab)};
  if (!group.ffn.gated) words.emplace_back("--ungated");
  return words;
}

}  // namespace

Result<int> measure_run(Session& session, const MeasureArguments& arguments, bool whole_model) {
  std::vector<std::string> words;
  if (whole_model) {
    words.emplace_back("model");
    Result<std::vector<std::string>> shape =
        shape_options(session, arguments.model.empty() ? "llama3.1-8b" : arguments.model);
    if (!shape) return shape.error();
    words.insert(words.end(), shape->begin(), shape->end());
  } else {
    words.emplace_back(arguments.full ? "--full" : "--quick");
  }
  const std::string program = find_program({kProgram}, fs::path(session.program()).parent_path().string());
  if (program.empty()) {
    return Error{ErrorCode::bad_input, kProgram,
                 "is neither beside this program nor in $PATH; on a machine with a GPU and the CUDA toolkit, "
                 "src/measure/build.sh builds it with nvcc alone (or cmake -DRIDGE_MEASURE=ON)"};
  }
  const std::pair<const char*, const std::string*> values[] = {
      {"--device", &arguments.gpu},          {"--out", &arguments.out},     {"--only", &arguments.only},
      {"--precision", &arguments.precision}, {"--phase", &arguments.phase}, {"--batch", &arguments.batch},
      {"--context", &arguments.context}};
  for (const auto& [flag, value] : values) {
    if (value->empty()) continue;
    words.emplace_back(flag);
    words.push_back(*value);
  }
  if (arguments.force) words.emplace_back("--force");
  return run_program(program, words);
}

}  // namespace ridge::cli
