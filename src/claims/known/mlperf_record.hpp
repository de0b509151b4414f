// The published MLPerf record, read when a claim first asks for it.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ridge/base/result.hpp"
#include "ridge/mlperf/mlperf.hpp"

namespace ridge::claims {

class Record {
 public:
  explicit Record(std::string data_directory) : data_directory_(std::move(data_directory)) {}

  struct Book {
    mlperf::Names names;
    mlperf::Results results;
  };
  /// nullptr if the tables are not there or malformed; `problem()` says why. Safe to call from any thread.
  [[nodiscard]] const Book* book() const;
  [[nodiscard]] const std::string& problem() const { return problem_; }

 private:
  std::string data_directory_;
  mutable std::once_flag once_;
  mutable std::optional<Book> book_;
  mutable std::string problem_;
};

}  // namespace ridge::claims
