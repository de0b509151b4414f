// The library that `ridge plan` opens under mpirun: a shared counter and a gather.
#include "app/mpi/ridge_mpi.h"

#include <mpi.h>

#include <climits>
#include <vector>

namespace {

MPI_Win window = MPI_WIN_NULL;
long* counter = nullptr;

/// Messages go in parts, since MPI counts in int.
constexpr std::size_t kPart = 1 << 28;

}  // namespace

int ridge_mpi_start(int* rank, int* ranks) {
  int provided = 0;
  const int code = MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm_rank(MPI_COMM_WORLD, rank);
  MPI_Comm_size(MPI_COMM_WORLD, ranks);
  const MPI_Aint bytes = *rank == 0 ? sizeof(long) : 0;
  MPI_Win_allocate(bytes, sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &counter, &window);
  if (*rank == 0) *counter = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  return MPI_SUCCESS;
}

long ridge_mpi_next(void) {
  const long one = 1;
  long had = LONG_MAX;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, window);
  MPI_Fetch_and_op(&one, &had, MPI_LONG, 0, 0, MPI_SUM, window);
  MPI_Win_unlock(0, window);
  return had;
}

int ridge_mpi_gather(const char* bytes, size_t size, void (*take)(const char*, size_t, void*), void* context) {
  int rank = 0;
  int ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (rank != 0) {
    unsigned long long length = size;
    int code = MPI_Send(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, MPI_COMM_WORLD);
    for (std::size_t at = 0; at < size && code == MPI_SUCCESS; at += kPart) {
      const std::size_t part = size - at < kPart ? size - at : kPart;
      code = MPI_Send(bytes + at, static_cast<int>(part), MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
    return code;
  }
  take(bytes, size, context);
  for (int from = 1; from < ranks; ++from) {
    unsigned long long length = 0;
    int code = MPI_Recv(&length, 1, MPI_UNSIGNED_LONG_LONG, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::vector<char> buffer(length);
    for (std::size_t at = 0; at < length && code == MPI_SUCCESS; at += kPart) {
      const std::size_t part = length - at < kPart ? length - at : kPart;
      code = MPI_Recv(buffer.data() + at, static_cast<int>(part), MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    if (code != MPI_SUCCESS) return code;
    take(buffer.data(), buffer.size(), context);
  }
  return MPI_SUCCESS;
}

void ridge_mpi_end(void) {
  MPI_Win_free(&window);
  MPI_Finalize();
}
