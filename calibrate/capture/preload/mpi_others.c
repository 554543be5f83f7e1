// Files: no messages of the program's own, whose time counts as MPI's.
#include "mpi_wrap.h"

#define OTHER(name, parameters, arguments) WRAP(name, parameters, arguments, NOTE(OTHER, PEER_NOT_ONE, 0))

OTHER(File_open, (MPI_Comm comm, const char *name, int mode, MPI_Info info, MPI_File *file),
      (comm, name, mode, info, file))
OTHER(File_close, (MPI_File * file), (file))
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
