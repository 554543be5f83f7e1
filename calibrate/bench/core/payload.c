/* Buffers whose every byte is known: a function of seed, sending rank, iteration and offset. */
#include "core/bench.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(from, bytes)
#endif

void *allocate(size_t bytes)
{
    void *memory = NULL;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t rounded = (bytes / page + 1) * page;
    if (posix_memalign(&memory, page, rounded) != 0) {
        fprintf(stderr, "pready-bench: no memory for %zu bytes\n", bytes);
        MPI_Abort(MPI_COMM_WORLD, 3);
        exit(3);
    }
    memset(memory, 0, rounded); /* touched by the thread that allocates, like the paper's benchmark does */
    ASAN_POISON_MEMORY_REGION((char *)memory + bytes, rounded - bytes);
    return memory;
}

typedef struct Memory {
    struct Memory *next;
    void *bytes;
} Memory;

void *memory_of(Run *run, size_t bytes)
{
    Memory *one = malloc(sizeof *one);
    if (one == NULL) {
        MPI_Abort(MPI_COMM_WORLD, 3);
        exit(3);
    }
    *one = (Memory){run->memory, allocate(bytes)};
    run->memory = one;
    return one->bytes;
}

void memory_free(Run *run)
{
    while (run->memory != NULL) {
        Memory *one = run->memory;
        run->memory = one->next;
        free(one->bytes);
        free(one);
    }
}

char *out_of(Run *run, size_t bytes)
{
    run->out = (Buffer){memory_of(run, bytes), bytes};
    return run->out.at;
}

char *in_of(Run *run, size_t bytes)
{
    run->in = (Buffer){memory_of(run, bytes), bytes};
    return run->in.at;
}

char *buffer_of(Run *run, size_t bytes)
{
    return run->buffer = run->bench->sends ? out_of(run, bytes) : in_of(run, bytes);
}

/* splitmix64 (Steele, Lea, Flood 2014, doi 10.1145/2660193.2660195) */
static uint64_t mix(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static uint64_t key_of(const Run *run, int sender)
{
    return mix(run->bench->seed ^ mix(((uint64_t)(unsigned)sender << 32) | (unsigned)run->iteration));
}

static unsigned char byte_at(uint64_t key, size_t offset)
{
    return (unsigned char)(mix(key + offset / 8) >> (8 * (offset % 8)));
}

void payload_fill(const Run *run, void *buffer, size_t bytes, int sender, size_t offset)
{
    uint64_t key = key_of(run, sender);
    unsigned char *to = buffer;
    for (size_t i = 0; i < bytes; i++) {
        to[i] = byte_at(key, offset + i);
    }
}

void payload_spoil(void *buffer, size_t bytes)
{
    if (bytes > 0) {
        memset(buffer, 0xa5, bytes);
    }
}

bool payload_right(const Run *run, const void *buffer, size_t bytes, int sender, size_t offset)
{
    uint64_t key = key_of(run, sender);
    const unsigned char *from = buffer;
    for (size_t i = 0; i < bytes; i++) {
        if (from[i] != byte_at(key, offset + i)) {
            return false;
        }
    }
    return true;
}
