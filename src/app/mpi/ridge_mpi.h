/* What the program needs of MPI, as functions that can be looked up in a library which is opened only under mpirun: so
 * that every other command starts without it.
 *
 *   int rank, ranks;
 *   if (ridge_mpi_start(&rank, &ranks) != 0) ...;
 *   while ((piece = ridge_mpi_next()) < pieces) work(piece);     // each number goes to exactly one rank
 *   ridge_mpi_gather(bytes, size, take, context);                // rank 0: take(bytes, size, context) for every rank
 *   ridge_mpi_end();
 */
#ifndef RIDGE_MPI_H
#define RIDGE_MPI_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* 0, or what MPI_Init returned. */
int ridge_mpi_start(int* rank, int* ranks);
/* 0, 1, 2, ...: the next number that no rank has had. From one thread of each rank at a time. */
long ridge_mpi_next(void);
/* All ranks call it; on rank 0 `take` is called once for each rank, in order. 0, or what MPI returned. */
int ridge_mpi_gather(const char* bytes, size_t size, void (*take)(const char* bytes, size_t size, void* context),
                     void* context);
void ridge_mpi_end(void);

#ifdef __cplusplus
}
#endif

#endif
