// The C interface: texts and arrays in and out of the same functions that HTTP calls.
#include "app/c/ridge.h"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "app/cli/call/batch.hpp"
#include "app/cli/call/call.hpp"
#include "ridge/base/change.hpp"
#include "ridge/perf/perf.hpp"
#include "ridge/report/report.hpp"

namespace cli = ridge::cli;
namespace fs = std::filesystem;

struct ridge_session {
  cli::SharedData shared;
  cli::Surroundings surroundings;
};

struct ridge_batch {
  std::unique_ptr<cli::Batch> batch;
};

namespace {

char* copy(std::string_view text) {
  // malloc, so that what reports a lack of memory needs none of its own.
  auto* out = static_cast<char*>(std::malloc(text.size() + 1));
  if (out == nullptr) std::abort();
  std::memcpy(out, text.data(), text.size());
  out[text.size()] = '\0';
  return out;
}

std::string json_of(const ridge::Error& error, ridge::Voice voice) {
  const ridge::Error said = ridge::phrased(error, voice);
  return ridge::Json::object()
      .set("error", ridge::Json::object().set("where", said.where).set("message", said.message))
      .text();
}

void report(char** into, const ridge::Error& error, ridge::Voice voice = ridge::Voice::json) {
  if (into != nullptr) *into = copy(json_of(error, voice));
}

/// Runs `work`; whatever is thrown (memory, the standard library) becomes an error, since C has no exceptions.
template <class Work>
auto guarded(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& problem) {
    return ridge::Error{ridge::ErrorCode::bad_input, "", problem.what()};
  } catch (...) {  // the solver's own are none of the standard library's
    return ridge::Error{ridge::ErrorCode::refused, "", "this could not be done"};
  }
}

/// The data that was installed with this library, or empty: it may lie in lib/, in lib/x86_64-linux-gnu/, or beside its
/// data in a Python package.
std::string installed_data() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&ridge_open), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code absent;
  const fs::path folder = fs::absolute(info.dli_fname, absent).parent_path();
  for (const fs::path& data : {folder / "data", folder.parent_path() / "share" / "ridgeline",
                               folder.parent_path().parent_path() / "share" / "ridgeline"}) {
    if (fs::is_directory(data / "devices", absent)) return data.string();
  }
  return {};
}

ridge::Result<std::unique_ptr<ridge_session>> open_session(const char* data_directory) {
  auto session = std::make_unique<ridge_session>();
  session->surroundings = cli::look_around();
  session->surroundings.width = 0;
  session->surroundings.colour = false;
  // Verbs look for data by these; what the caller named goes before the environment, as --data does.
  auto& found = session->surroundings.data_variable;
  if (data_directory != nullptr && *data_directory != '\0') {
    found = data_directory;
  } else if (const std::string data = installed_data(); !found && !data.empty()) {
    found = data;
  }
  cli::Session reader({}, session->surroundings);
  ridge::Result<cli::SharedData> shared = reader.share();
  if (!shared) return shared.error();
  session->shared = *std::move(shared);
  return session;
}

/// What a caller may have who did not look at what ridge_open() gave.
ridge::Error no_session() {
  return {ridge::ErrorCode::bad_input, "", "there is no session: ridge_open() gave none, and its *error says why"};
}
ridge::Voice voice_of(const ridge_session* session) {
  return session == nullptr ? ridge::Voice::json : session->surroundings.program_voice;
}

std::vector<std::string> names_of(const char* const* names, size_t count) {
  return {names, names + count};
}

ridge::Json list(const std::vector<std::string>& names) {
  ridge::Json out = ridge::Json::array();
  for (const std::string& name : names) out.push(name);
  return out;
}

}  // namespace

const char* ridge_version(void) {
  return RIDGE_VERSION;
}

ridge_session* ridge_open(const char* data_directory, char** error) {
  auto session = guarded([&] { return open_session(data_directory); });
  if (session) return session->release();
  report(error, session.error());
  return nullptr;
}

void ridge_speak_python(ridge_session* session) {
  if (session == nullptr) return;
  session->surroundings.program_voice = ridge::Voice::python;
}

void ridge_close(ridge_session* session) {
  delete session;
}

char* ridge_call(ridge_session* session, const char* verb, const char* json_flags, int* exit_code) {
  const auto answer = guarded([&]() -> ridge::Result<cli::Answer> {
    if (session == nullptr) return no_session();
    if (verb == nullptr) return ridge::Error{ridge::ErrorCode::bad_input, "", "name a command: \"estimate\""};
    auto said = cli::read_said(json_flags == nullptr ? "{}" : json_flags, "flags");
    if (!said) return said.error();
    const auto asked =
        cli::make_call(verb, *std::move(said), *session->shared.catalogue, {.files = cli::Files::allowed});
    if (!asked) return asked.error();
    const cli::StopSign never;
    return cli::call(*asked, session->shared, session->surroundings, never, cli::Files::allowed);
  });
  if (exit_code != nullptr) *exit_code = answer ? answer->exit_code : cli::exit_code(answer.error().code);
  return copy(answer ? answer->json : json_of(answer.error(), voice_of(session)));
}

void ridge_free(char* text) {
  std::free(text);
}

ridge_batch* ridge_batch_open(ridge_session* session, const char* kind, const char* json_flags,
                              const char* const* inputs, size_t input_count, const char* const* outputs,
                              size_t output_count, char** error) {
  auto batch = guarded([&]() -> ridge::Result<std::unique_ptr<cli::Batch>> {
    if (session == nullptr) return no_session();
    return cli::Batch::open(kind == nullptr ? "" : kind, json_flags == nullptr ? "{}" : json_flags,
                            names_of(inputs, input_count), names_of(outputs, output_count), session->shared,
                            session->surroundings);
  });
  if (batch) return new (std::nothrow) ridge_batch{*std::move(batch)};
  report(error, batch.error(), voice_of(session));
  return nullptr;
}

void ridge_batch_close(ridge_batch* batch) {
  delete batch;
}

int ridge_batch_evaluate(const ridge_batch* batch, size_t points, const ridge_array* inputs, size_t input_count,
                         double* const* outputs, size_t output_count, unsigned threads, char** error) {
  const auto done = guarded([&]() -> ridge::Status {
    if (batch == nullptr) return ridge::Error{ridge::ErrorCode::bad_input, "", "there is no batch: it was not opened"};
    std::vector<cli::BatchColumn> columns;
    for (size_t c = 0; c < input_count; ++c) {
      columns.push_back({static_cast<cli::ColumnType>(inputs[c].type), inputs[c].values});
    }
    return batch->batch->evaluate(points, columns, {outputs, output_count}, threads);
  });
  if (done) return 0;
  report(error, done.error());
  return 1;
}

char* ridge_batch_names(const char* kind) {
  if (kind == nullptr) kind = "";
  return copy(ridge::Json::object()
                  .set("inputs", list(cli::Batch::input_names(kind)))
                  .set("outputs", list(cli::Batch::output_names(kind)))
                  .text());
}

const char* ridge_reason_name(int reason) {
  return reason < 0 || reason > static_cast<int>(ridge::Reason::bad_value)
             ? ""
             : ridge::name(static_cast<ridge::Reason>(reason)).data();
}
