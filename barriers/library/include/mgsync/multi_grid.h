/* The C interface of mgsync::multi_grid (multi_grid.hpp says what each call does), for C, Fortran and Python.
   Every call that returns int returns MGSYNC_SUCCESS or why not; mgsync_last_error() is the sentence. */
#ifndef MGSYNC_MULTI_GRID_H
#define MGSYNC_MULTI_GRID_H

#include <stddef.h>

#include <mgsync/version.h>

#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif
#ifdef __cplusplus
extern "C" {
#endif

enum {
  MGSYNC_SUCCESS = 0,
  MGSYNC_FAILURE = 1,     /* a CUDA call failed */
  MGSYNC_USAGE = 2,       /* wrong use */
  MGSYNC_TIMED_OUT = 3,   /* a barrier was given up: the sentence names who did not arrive */
  MGSYNC_UNSUPPORTED = 4, /* these GPUs cannot do it */
  MGSYNC_ABORTED = 5      /* mgsync_multi_grid_abort() was called */
};

typedef struct mgsync_multi_grid mgsync_multi_grid;

/* MGSYNC_VERSION and MGSYNC_ABI_VERSION (version.h) that the loaded library was built with. A program that
   loads the library by name compares the second with its own before it calls anything else. */
int mgsync_version(void);
int mgsync_abi_version(void);

/* The message of the calling thread's last call that failed; "" if none has. */
const char* mgsync_last_error(void);

/* All GPUs in this process. timeout_seconds bounds every wait at a barrier, the first too; 0: for ever. */
int mgsync_multi_grid_create(mgsync_multi_grid** made, const int* gpus, int count, double timeout_seconds);

/* Like MPI_Allgather: every process gives `bytes` bytes and gets those of all processes in their order.
 * Returns 0. */
typedef int (*mgsync_all_gather)(const void* mine, void* all, size_t bytes, void* context);

/* A group of several processes, to which this one, number `process` of `processes`, brings `gpus`.
   Collective, as are resize and a launch with a new number of blocks, reset and, where memory is shared by
   IPC, destroy: if one process is refused, all are, with a message that names it. `gather` and `context` must
   outlive the group. Only an invalid process number, gather or time-out is
   refused in the calling process alone. */
int mgsync_multi_grid_create_across(mgsync_multi_grid** made, const int* gpus, int count, int process,
                                    int processes, mgsync_all_gather gather, void* context,
                                    double timeout_seconds);
/* The same with flags in memory that the caller made symmetric: `parts` has the addresses of its parts on all
   GPUs, by grid rank, as this process's GPUs reach them, aligned to 256; `bytes` is the size of each. The
   group takes 256 bytes and mgsync_multi_grid_flag_bytes() for each number of blocks of it. The memory must
   outlive the group. */
int mgsync_multi_grid_create_over(mgsync_multi_grid** made, void* const* parts, int part_count, size_t bytes,
                                  const int* gpus, int count, int process, int processes,
                                  mgsync_all_gather gather, void* context, double timeout_seconds);
size_t mgsync_multi_grid_flag_bytes(unsigned gpus, unsigned blocks_per_gpu);
int mgsync_multi_grid_destroy(mgsync_multi_grid* grids); /* NULL: does nothing, and succeeds */

int mgsync_multi_grid_gpus(const mgsync_multi_grid* grids); /* of all processes; 0 where grids is NULL */
int mgsync_multi_grid_local_gpus(const mgsync_multi_grid* grids); /* of this one; 0 where grids is NULL */
int mgsync_multi_grid_rank(const mgsync_multi_grid* grids,
                           int local); /* -1 where grids is NULL, or there is no GPU `local` */

/* One GPU's launch; arguments[0] is set to the kernel's handle. `stream` is a cudaStream_t, NULL the default
 * stream. */
typedef struct mgsync_launch {
  const void* kernel;
  unsigned grid[3];
  unsigned block[3];
  void** arguments;
  size_t shared_bytes;
  void* stream;
} mgsync_launch;

int mgsync_multi_grid_launch(mgsync_multi_grid* grids, const mgsync_launch* launches, int count);
int mgsync_multi_grid_wait(mgsync_multi_grid* grids);
int mgsync_multi_grid_check(mgsync_multi_grid* grids);
int mgsync_multi_grid_reset(mgsync_multi_grid* grids);

/* May be called from any thread, at any time while the group lives; all other calls of a group by one thread
   at a time. */
int mgsync_multi_grid_abort(mgsync_multi_grid* grids, const char* why);
/* mgsync_multi_grid_poll() returns one of these. */
enum { MGSYNC_DONE = 0, MGSYNC_AT_WORK = 1, MGSYNC_LOST = 2, MGSYNC_NO_GROUP = -1 };
int mgsync_multi_grid_poll(const mgsync_multi_grid* grids);
int mgsync_multi_grid_set_timeout(mgsync_multi_grid* grids, double timeout_seconds,
                                  double first_timeout_seconds);

/* Does everything that the first launch would do except the launch itself: afterwards launches wait for
   nothing, and can be captured. */
int mgsync_multi_grid_prepare(mgsync_multi_grid* grids, const void* kernel, const unsigned grid[3],
                              const unsigned block[3], size_t shared_bytes);
/* For kernels that the program launches itself: resize prepares a number of blocks, and handle copies the
   handle that the kernel on GPU `local` takes to `handle`. `size` is the room there, at least
   mgsync_multi_grid_handle_size(). */
int mgsync_multi_grid_resize(mgsync_multi_grid* grids, unsigned blocks_per_gpu);
size_t mgsync_multi_grid_handle_size(void);
int mgsync_multi_grid_handle(const mgsync_multi_grid* grids, unsigned blocks_per_gpu, int local, void* handle,
                             size_t size);

/* A team of `count` GPUs of the group, by grid rank: barriers of their own inside the group's kernels. *team
   becomes its number, from 1 on. Collective over all processes of the group, as resize is: what refuses one
   process refuses all. A team lives as long as the group. */
int mgsync_multi_grid_make_team(mgsync_multi_grid* grids, int* team, const int* grid_ranks, int count);
/* Copies the handle of a team, which a kernel of the group takes behind its own: as mgsync_multi_grid_handle()
   does, for a number of blocks that was prepared. Where GPU `local` is not of the team the handle is an empty
   one, whose `gpus` the kernel finds to be 0. */
int mgsync_multi_grid_team_handle(const mgsync_multi_grid* grids, int team, unsigned blocks_per_gpu,
                                  int local, void* handle, size_t size);

#ifdef __cplusplus
}
#endif
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#endif
