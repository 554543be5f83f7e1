// Calls that send no message of the program's own: their time counts as MPI's, under their names.
#include "mpi_wrap.h"

#define OTHER(name, parameters, arguments)                                                                             \
    WRAP(name, parameters, arguments,                                                                                  \
         store_record(KIND_OTHER, store_site((const void *)(uintptr_t)MPI_##name, SITE_FUNCTION), PEER_NOT_ONE, 0, t0, t1))

OTHER(Comm_split, (MPI_Comm comm, int colour, int key, MPI_Comm *made), (comm, colour, key, made))
OTHER(Comm_split_type, (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *made), (comm, type, key, info, made))
OTHER(Comm_dup, (MPI_Comm comm, MPI_Comm *made), (comm, made))
OTHER(Comm_create, (MPI_Comm comm, MPI_Group group, MPI_Comm *made), (comm, group, made))
OTHER(Comm_free, (MPI_Comm * comm), (comm))
OTHER(Cart_create, (MPI_Comm comm, int axes, const int sides[], const int wraps[], int reorder, MPI_Comm *made),
      (comm, axes, sides, wraps, reorder, made))
OTHER(Cart_sub, (MPI_Comm comm, const int keep[], MPI_Comm *made), (comm, keep, made))
OTHER(Dist_graph_create_adjacent,
      (MPI_Comm comm, int in, const int from[], const int from_weights[], int out, const int to[],
       const int to_weights[], MPI_Info info, int reorder, MPI_Comm *made),
      (comm, in, from, from_weights, out, to, to_weights, info, reorder, made))
OTHER(Win_create, (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, MPI_Win *win),
      (base, size, unit, info, comm, win))
OTHER(Win_allocate, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
      (size, unit, info, comm, base, win))
OTHER(Win_allocate_shared, (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base, MPI_Win *win),
      (size, unit, info, comm, base, win))
OTHER(Win_free, (MPI_Win * win), (win))
OTHER(Win_sync, (MPI_Win win), (win))
OTHER(Win_test, (MPI_Win win, int *flag), (win, flag))

OTHER(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
      (comm, name, mode, info, file))
OTHER(File_close, (MPI_File * file), (file))
OTHER(File_sync, (MPI_File file), (file))
OTHER(File_set_view,
      (MPI_File file, MPI_Offset offset, MPI_Datatype type, MPI_Datatype seen, const char *form, MPI_Info info),
      (file, offset, type, seen, form, info))
#define INPUT_OUTPUT(verb, constant)                                                                                   \
    OTHER(File_##verb, (MPI_File file, constant void *buf, int count, MPI_Datatype type, MPI_Status *status),          \
          (file, buf, count, type, status))                                                                            \
    OTHER(File_##verb##_all, (MPI_File file, constant void *buf, int count, MPI_Datatype type, MPI_Status *status),    \
          (file, buf, count, type, status))                                                                            \
    OTHER(File_##verb##_at,                                                                                            \
          (MPI_File file, MPI_Offset offset, constant void *buf, int count, MPI_Datatype type, MPI_Status *status), \
          (file, offset, buf, count, type, status))                                                                 \
    OTHER(File_##verb##_at_all,                                                                                        \
          (MPI_File file, MPI_Offset offset, constant void *buf, int count, MPI_Datatype type, MPI_Status *status), \
          (file, offset, buf, count, type, status))
INPUT_OUTPUT(read, )
INPUT_OUTPUT(write, const)

OTHER(Pack, (const void *in, int count, MPI_Datatype type, void *out, int size, int *position, MPI_Comm comm),
      (in, count, type, out, size, position, comm))
OTHER(Unpack, (const void *in, int size, int *position, void *out, int count, MPI_Datatype type, MPI_Comm comm),
      (in, size, position, out, count, type, comm))
