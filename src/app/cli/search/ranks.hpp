// The ranks of an MPI job, if this process is one of several: opened only under mpirun (or srun with PMIx).
//
//   Result<std::unique_ptr<MpiRanks>> ranks = MpiRanks::join();
//   if (*ranks == nullptr) ...;                 // alone: no MPI was loaded
//   while ((piece = (*ranks)->next()) < pieces) work(piece);
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ridge/base/result.hpp"
#include "search/run.hpp"

namespace ridge::cli {

class MpiRanks final : public search::Ranks {
 public:
  /// nullptr if this process was not started by mpirun with more than one rank. Refuses if it was, but the library
  /// libridge_mpi.so is not there or MPI does not start.
  static Result<std::unique_ptr<MpiRanks>> join();
  ~MpiRanks() override;
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return size_; }
  [[nodiscard]] long next() const override;
  [[nodiscard]] Status gather(const std::string& bytes,
                              const std::function<void(const std::string&)>& take) const override;

 private:
  MpiRanks() = default;
  struct Library;
  std::unique_ptr<Library> library_;
  int rank_ = 0;
  int size_ = 1;
};

/// Whether this process may speak: it is alone, or rank 0.
[[nodiscard]] bool is_first_rank();

}  // namespace ridge::cli
