// The output of nccl-tests: comments with '#', then one line per size, out of place and in place.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "evidence/import/parts.hpp"
#include "evidence/rows/case_row.hpp"
#include "ridge/base/text.hpp"

namespace ridge::evidence {
namespace {

struct Word {
  std::string_view text;
  std::size_t column;  ///< from 1
};

std::vector<Word> words_of(std::string_view line) {
  std::vector<Word> words;
  std::size_t at = 0;
  while ((at = line.find_first_not_of(" \t\r", at)) != std::string_view::npos) {
    const std::size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    words.push_back({line.substr(at, end - at), at + 1});
    at = end;
  }
  return words;
}

/// What the comments say.
struct Setup {
  int ranks = 0;
  std::set<std::string> hosts;
  std::string device;  ///< as the driver calls it
  std::string op;      ///< of evidence, or empty
};

/// "#  Rank  0 Group  0 Pid  12 on  node-1 device  0 [0000:19:00] NVIDIA H100 80GB HBM3".
void read_comment(std::string_view line, Setup& setup) {
  static const std::map<std::string_view, std::string_view> kTests = {{"all_reduce_perf", "allreduce"},
                                                                      {"all_gather_perf", "allgather"},
                                                                      {"reduce_scatter_perf", "reducescatter"},
                                                                      {"alltoall_perf", "alltoall"},
                                                                      {"sendrecv_perf", "sendrecv"}};
  for (const auto& [program, op] : kTests) {
    if (line.find(program) != std::string_view::npos) setup.op = op;
  }
  const std::vector<Word> words = words_of(line);
  if (words.size() < 3 || words[1].text != "Rank") return;
  ++setup.ranks;
  for (std::size_t i = 2; i + 1 < words.size(); ++i) {
    if (words[i].text == "on") setup.hosts.emplace(words[i + 1].text);
  }
  const std::size_t bracket = line.find("] ");
  if (setup.device.empty() && bracket != std::string_view::npos) {
    std::string_view name = line.substr(bracket + 2);
    while (!name.empty() && (name.back() == ' ' || name.back() == '\r')) name.remove_suffix(1);
    setup.device = name;
  }
}

/// Reductions send 2(n-1)/n or (n-1)/n of the buffer; the ratio of the two bandwidths says which.
std::string op_by_ratio(std::string_view reduction, double ratio, int ranks) {
  constexpr double kNear = 0.04;
  const double others = (ranks - 1.0) / ranks;
  if (reduction != "none") return std::abs(ratio / (2 * others) - 1) < kNear ? "allreduce" : "reducescatter";
  return std::abs(ratio - 1) < kNear ? "sendrecv" : "allgather";
}

std::string dtype_of(std::string_view type) {
  if (type == "half" || type == "float16") return "fp16";
  if (type == "bfloat16") return "bf16";
  return "fp32";
}

}  // namespace

Result<std::string> import_nccl_tests(std::string_view text, const std::string& file, const ImportOptions& options,
                                      const Catalogue& catalogue) {
  constexpr double kLeastTime = 1e-3;  // microseconds of a collective, and the most: no test has others
  constexpr double kMostTime = 1e12;
  constexpr double kMostBytes = 1e15;
  constexpr std::size_t kColumns = 13;  // size count type redop root, then time algbw busbw #wrong twice
  Setup setup;
  Rows rows({"id", "source", "device", "op", "dtype", "group", "bytes", "seconds", "gpus_per_node", "notes"});
  std::string device;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    ++number;
    const std::vector<Word> words = words_of(line);
    if (words.empty()) continue;
    const auto wrong = [&](const Word& at, std::string message) {
      return Error{ErrorCode::bad_input, fmt::format("{}:{}:{}", file, number, at.column), std::move(message)};
    };
    if (words[0].text.front() == '#') {
      read_comment(line, setup);
      continue;
    }
    const std::optional<double> size = parse_plain_number(words[0].text);
    if (!size) continue;  // what the launcher and the library print in between
    if (words.size() != kColumns && words.size() != kColumns - 1) {
      return wrong(words.back(),
                   fmt::format("a line of nccl-tests has {} columns, this one {}", kColumns, words.size()));
    }
    if (setup.ranks < 2) {
      return wrong(words[0], "no line '#  Rank ...' stands above: how many GPUs took part is not known");
    }
    if (device.empty()) {
      const Result<std::string> found =
          device_named(options.device.empty() ? setup.device : options.device, catalogue, file);
      if (!found) return found.error();
      device = *found;
    }
    if (*size == 0) continue;
    const Word& time = words[5];
    const std::optional<double> microseconds = parse_plain_number(time.text);
    if (!microseconds || !(*microseconds >= kLeastTime && *microseconds <= kMostTime))
      return wrong(time, fmt::format("{} is no time", quoted(time.text)));
    if (!(*size > 0 && *size <= kMostBytes))
      return wrong(words[0], fmt::format("{} is no size", quoted(words[0].text)));
    const Word& errors = words[8];
    if (errors.text != "0" && errors.text != "N/A") {
      return wrong(errors, fmt::format("{} results were wrong: such a run is no measurement", errors.text));
    }
    const double algorithm = parse_plain_number(words[6].text).value_or(0);
    const double bus = parse_plain_number(words[7].text).value_or(0);
    std::string op = setup.op;
    if (op.empty()) {
      if (!(algorithm > 0)) continue;  // too small to tell the collectives apart
      op = op_by_ratio(words[3].text, bus / algorithm, setup.ranks);
    }
    rows.begin();
    rows.set("id", fmt::format("{}{}", id_of_file(file), rows.size()));
    rows.set("source", options.source.empty() ? "nccl-tests" : options.source);
    rows.set("device", device);
    rows.set("op", op);
    rows.set("dtype", dtype_of(words[2].text));
    rows.set("group", std::to_string(setup.ranks));
    rows.set("bytes", std::string(words[0].text));
    rows.set("seconds", cell_number(*microseconds * 1e-6));
    const std::size_t hosts = std::max<std::size_t>(setup.hosts.size(), 1);
    if (hosts > 1) rows.set("gpus_per_node", std::to_string(static_cast<std::size_t>(setup.ranks) / hosts));
    rows.set("notes",
             hosts > 1 ? fmt::format("nccl-tests, out of place; {} nodes", hosts) : "nccl-tests, out of place");
  }
  if (rows.size() == 0) {
    return Error{ErrorCode::bad_input, fmt::format("{}:{}:1", file, number), "no line of measurements was found"};
  }
  return rows.text();
}

}  // namespace ridge::evidence
