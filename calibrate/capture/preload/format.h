// The layout of a capture file, which `files.py` reads: a header, a table of places in the code, then chunks.
//
// All little-endian. The file grows chunk by chunk; a chunk belongs to one thread. Nothing is ever moved or rewritten, so
// that a process killed at any point leaves a file that can be read up to its last record. Only `done` is filled in later.
#pragma once

#include <stdint.h>

#define FORMAT_MAGIC "pready capture 5"
#define FORMAT_NO_ROOM ".unwritten" // behind the name of a process that had no room for its file
enum {
    FORMAT_SITES = 1024,      // places in the code
    FORMAT_SITE_BYTES = 512,  // of one place
    FORMAT_HEADER = 8192,     // bytes before the places
    FORMAT_CHUNK = 65536,     // bytes of a chunk, its head among them
    FORMAT_RECORD = 48,
};

// How the process ended.
enum { ENDED_UNKNOWN, ENDED_EXIT, ENDED_ABORT };

// The header's numbers; texts follow at fixed offsets.
struct header {
    char magic[16];
    uint32_t header_bytes, site_bytes, sites, chunk_bytes; // of this file's layout
    int32_t rank, ranks;                                   // of MPI_COMM_WORLD; -1 without MPI
    int32_t pid, chunks;                                   // in the file
    int64_t started_ns, wall_ns;                           // monotonic and wall-clock time at the same moment
    int64_t mpi_started_ns, mpi_ended_ns;                  // end of MPI_Init, begin of MPI_Finalize; 0 if not reached
    int64_t ended_ns;                                      // at exit; 0 if not reached
    uint32_t ended;                                        // ENDED_*
    uint32_t openmp;                                       // OPENMP_*
    uint32_t threads;                                      // that have recorded something
    uint32_t forks;                                        // children are not captured
    uint64_t dropped;                                      // records that did not fit
    uint64_t dropped_requests;                             // persistent requests that are not known
};

enum { OPENMP_NONE, OPENMP_GOMP, OPENMP_OMPT };

// Texts in the header: offset and length, each ended by 0.
enum {
    TEXT_HOST = 512,
    TEXT_HOST_ROOM = 256,
    TEXT_LIBRARY = 768,
    TEXT_LIBRARY_ROOM = 1024,
    TEXT_PROGRAM = 1792,
    TEXT_PROGRAM_ROOM = 1024,
    TEXT_COMMAND = 2816,
    TEXT_COMMAND_ROOM = 4096,
    TEXT_CPUS = 6912, // that the threads may run on, such as "0-3,8"
    TEXT_CPUS_ROOM = 1024,
};

// A place in the code: where in which object. With its caller it is a chain of calls, a place for each chain.
struct site {
    uint64_t offset; // address in the object, as its file has it
    uint32_t kind;   // SITE_*; written last, so 0 is a place that is not there
    uint32_t caller; // place of the call of the function that it is in; 0: not followed
    char symbol[176]; // of the dynamic symbol table, where there is one
    char object[320]; // path
};

enum { SITE_FUNCTION = 1, SITE_RETURN = 2 };

struct chunk_head {
    uint32_t magic, thread; // threads are numbered as they come
    uint64_t pad;
};
#define CHUNK_MAGIC 0x6b6e6863u

// One record. `kind` is written last: 0 is a record that is not there.
struct record {
    int64_t start, end;  // ns since header.started_ns
    int64_t done;        // of a request: end of the call that completed it; negative: of none that was seen
    uint16_t kind, site; // site 0 is none
    int32_t who;         // region: its number; message: the peer's rank in MPI_COMM_WORLD
    uint64_t what;       // region: see below; message: bytes
    uint64_t buffer;     // message between two ranks: address of its data; else 0
};

// What `what` holds for regions: size of the team, or number in the team, then level or phase, then time in MPI.
enum { SHARE_TASKS = 0x8000 }; // in a share's phase: explicit tasks were created in it
static inline uint64_t format_parts(unsigned low, unsigned middle, int64_t mpi_ns)
{
    const uint64_t units = (uint64_t)mpi_ns / 100; // of 100 ns
    return (uint64_t)(low & 0xffff) | (uint64_t)(middle & 0xffff) << 16 | (units >> 32 ? UINT32_MAX : units) << 32;
}

enum { PEER_ANY = -1, PEER_NONE = -2, PEER_UNKNOWN = -3, PEER_NOT_ONE = -4 };

enum kind {
    KIND_NOTHING,
#define KIND(name, number, text) KIND_##name = number,
#include "kinds.def"
#undef KIND
};
