// The ranks of an MPI job, if this process is one of several: opened only under mpirun (or srun with PMIx).
//
//   Result<std::unique_ptr<Ranks>> ranks = Ranks::join(program);
//   if (*ranks == nullptr) ...;                 // alone: no MPI was loaded
//   while ((piece = (*ranks)->next()) < pieces) work(piece);
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "ridge/result.hpp"

namespace ridge::cli {

class Ranks {
 public:
  /// nullptr if this process was not started by mpirun with more than one rank. Refuses if it was, but the library
  /// libridge_mpi.so is not there or MPI does not start.
  static Result<std::unique_ptr<Ranks>> join();
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  /// 0, 1, 2, ...: each number goes to one rank.
  [[nodiscard]] long next() const;
  /// Every rank calls it; on rank 0 `take` gets the bytes of each.
  [[nodiscard]] Status gather(const std::string& bytes, const std::function<void(const std::string&)>& take) const;

 private:
  Ranks() = default;
  struct Library;
  std::unique_ptr<Library> library_;
  int rank_ = 0;
  int size_ = 1;
};

}  // namespace ridge::cli
