/* A team of OpenMP threads of exactly the size asked for, each on its core (binding.c). Used as
 *     #pragma omp parallel num_threads(n)
 *     { team_check(n); ... }
 */
#ifndef PREADY_TEAM_H
#define PREADY_TEAM_H

#include "core/bench.h"

#include <omp.h>
#include <stdlib.h>

static inline void team_check(int wanted)
{
    if (omp_get_num_threads() != wanted) {
        fprintf(stderr, "pready-bench: asked OpenMP for %d threads, got %d (OMP_THREAD_LIMIT? OMP_DYNAMIC?)\n", wanted,
                omp_get_num_threads());
        MPI_Abort(MPI_COMM_WORLD, 5);
        exit(5);
    }
    binding_take(omp_get_thread_num(), wanted);
}

#endif
