#include "app/cli/rl/emit_rl.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "app/cli/estimate/estimate.hpp"
#include "app/cli/rl/question.hpp"
#include "app/cli/session/wrong.hpp"
#include "ridge/base/file.hpp"
#include "ridge/facility/checkpoints.hpp"

namespace ridge::cli {

namespace {

/// The 16-bit repository of the model: policies are trained in it.
Result<std::string> policy_checkpoint(const Session& session, const std::string& model) {
  const Result<std::string> data = session.data_directory();
  if (!data) return data.error();
  const Result<Checkpoints> checkpoints = load_checkpoints(*data + "/checkpoints.csv");
  if (!checkpoints) return checkpoints.error();
  if (const Checkpoint* found = checkpoints->find(model, Format::bf16, "NVIDIA")) return found->repository;
  return wrong("--checkpoint", fmt::format("no repository of {} is known: say a path or a repository", model));
}

/// Devices of one node, as the system says it, else the device.
int node_of(const Knowledge& knowledge, const RlAnswer& a) {
  constexpr int kUsualNode = 8;
  if (const System* system = knowledge.catalogue.system(a.query.system)) return system->devices_per_node;
  const auto device = knowledge.catalogue.find_device(a.generation.device);
  return device && device->node_size ? device->node_size->value : kUsualNode;
}

}  // namespace

Result<int> emit_rl_files(Session& session, const EstimateFlags& flags, RlFramework framework,
                          const std::string& checkpoint, const std::string& out) {
  const Result<RlQuery> question = rl_question(flags, session.software_date());
  if (!question) return question.error();
  const Result<Knowledge> knowledge = knowledge_of(session);
  if (!knowledge) return knowledge.error();
  RlQuery asked = *question;
  if (framework == RlFramework::openrlhf && !flags.given("--engine")) {
    asked.training.engine = "deepspeed";  // the one it has
    asked.training.plan.sharding = Sharding::zero3;
    asked.freedom.tp = asked.freedom.pp = asked.freedom.ep = false;
  }
  const Result<RlAnswer> answered =
      ridge::answer(asked, *knowledge, {.suggest = false, .patience = session.patience()});
  if (const Status s = session.in_time(); !s) return s.error();
  if (!answered) return of_rl_flag(answered.error());
  Result<std::string> loads = checkpoint;
  if (checkpoint.empty()) loads = policy_checkpoint(session, answered->query.model);
  if (!loads) return loads.error();
  const Result<std::vector<RlFile>> files = emit_rl(*answered, framework, *loads, node_of(*knowledge, *answered));
  if (!files) return files.error();
  if (out.empty()) {
    session.print(files->front().text);
    if (files->size() > 1)
      session.warn(fmt::format("this is {}; --out DIR also writes {}", files->front().name, files->back().name));
    return kFine;
  }
  if (const Status s = session.files().make_folder(out); !s) return s.error();
  for (const RlFile& file : *files) {
    const std::string path = out + "/" + file.name;
    if (const Status s = session.files().write(path, file.text); !s) return s.error();
    session.print(path + "\n");
  }
  return kFine;
}

}  // namespace ridge::cli
