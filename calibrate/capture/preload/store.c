// The file of one process, mapped into memory: records are in the file even if the process is killed.
//
// Space is allocated before use: writing to a mapping on a full disk would kill the program.
#include "store.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

_Thread_local struct thread_state self __attribute__((tls_model("initial-exec")));
bool store_on;
struct header *store_header;

static const uint64_t FIRST_CHUNK = FORMAT_HEADER + (uint64_t)FORMAT_SITES * FORMAT_SITE_BYTES;
static char folder[PATH_MAX], path[PATH_MAX + 320];
enum { NO_FILE = -1 };
static int file = NO_FILE;
static char *mapped;
static uint64_t most_chunks = 4096; // 256 MiB
static atomic_uint chunks_taken, threads_seen;
static atomic_flag opening = ATOMIC_FLAG_INIT;
static atomic_bool opened, failed;

_Static_assert(sizeof(struct record) == FORMAT_RECORD, "a record's size is part of the format");
_Static_assert((FORMAT_CHUNK - sizeof(struct chunk_head)) % FORMAT_RECORD == 0, "a chunk is a whole number of records");
_Static_assert(sizeof(struct site) == FORMAT_SITE_BYTES, "a place's size is part of the format");
_Static_assert(sizeof(struct header) <= TEXT_HOST, "texts come after the numbers");
_Static_assert(TEXT_CPUS + TEXT_CPUS_ROOM <= FORMAT_HEADER, "texts fit");

void store_prepare(void)
{
    static bool prepared;
    if (prepared)
        return;
    prepared = true;
    const char *const where = getenv("PREADY_CAPTURE_DIR");
    const char *const limit = getenv("PREADY_CAPTURE_MIB");
    if (where == NULL || where[0] != '/' || strlen(where) >= sizeof folder - 300)
        return;
    strcpy(folder, where);
    if (limit != NULL) {
        const long mib = strtol(limit, NULL, 10);
        if (mib > 0 && mib <= 1048576)
            most_chunks = (uint64_t)mib * (1048576 / FORMAT_CHUNK);
    }
    store_on = true;
}

// posix_fallocate writes where the file system cannot reserve; both fail with a code instead of a signal, except beyond
// the process's own limit.
static bool grow(uint64_t from, uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && from + bytes > limit.rlim_cur)
        return false;
    int code;
    do
        code = posix_fallocate(file, (off_t)from, (off_t)bytes);
    while (code == EINTR);
    return code == 0;
}

static void command_line(char *out, size_t room)
{
    const int from = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    const ssize_t n = from < 0 ? 0 : read(from, out, room - 1);
    if (from >= 0)
        close(from);
    for (ssize_t i = 0; i + 1 < n; i++)
        if (out[i] == 0)
            out[i] = ' ';
}

static bool create(void)
{
    char host[200] = "";
    gethostname(host, sizeof host - 1);
    for (char *c = host; *c; c++)
        if (*c == '/')
            *c = '_';
    for (unsigned again = 0; again < 100 && file < 0; again++) { // the name is taken after an exec
        snprintf(path, sizeof path, "%s/process-%s-%d-%u.capture", folder, host, (int)getpid(), again);
        file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (file < 0 && errno != EEXIST)
            return false;
    }
    if (file < 0)
        return false;
    const uint64_t most = FIRST_CHUNK + most_chunks * FORMAT_CHUNK;
    mapped = MAP_FAILED;
    if (grow(0, FIRST_CHUNK))
        mapped = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (mapped == MAP_FAILED) { // an empty file of another name says that there was no room
        char named[sizeof path + sizeof FORMAT_NO_ROOM];
        snprintf(named, sizeof named, "%s" FORMAT_NO_ROOM, path);
        if (ftruncate(file, 0) != 0 || rename(path, named) != 0)
            unlink(path);
        return false;
    }
    struct header *const h = (struct header *)mapped;
    h->header_bytes = FORMAT_HEADER;
    h->site_bytes = FORMAT_SITE_BYTES;
    h->sites = FORMAT_SITES;
    h->chunk_bytes = FORMAT_CHUNK;
    h->rank = h->ranks = -1;
    h->pid = (int32_t)getpid();
    struct timespec wall;
    clock_gettime(CLOCK_REALTIME, &wall);
    h->started_ns = now();
    h->wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
    memcpy(mapped + TEXT_HOST, host, strlen(host));
    // A new file is all zeros: texts end.
    if (readlink("/proc/self/exe", mapped + TEXT_PROGRAM, TEXT_PROGRAM_ROOM - 1) < 0)
        mapped[TEXT_PROGRAM] = 0;
    command_line(mapped + TEXT_COMMAND, TEXT_COMMAND_ROOM);
    memcpy(h->magic, FORMAT_MAGIC, sizeof h->magic);
    return true;
}

bool store_open(void)
{
    if (atomic_load(&failed))
        return false;
    if (!atomic_load(&opened)) {
        const int was = errno;
        while (atomic_flag_test_and_set(&opening)) { // another thread opens the file; this happens once
        }
        if (!atomic_load(&opened) && !atomic_load(&failed)) {
            if (create()) {
                __atomic_store_n(&store_header, (struct header *)mapped, __ATOMIC_RELEASE);
                atomic_store(&opened, true);
            } else {
                if (file >= 0)
                    close(file);
                file = NO_FILE;
                atomic_store(&failed, true);
                store_on = false;
            }
        }
        atomic_flag_clear(&opening);
        errno = was;
    }
    return atomic_load(&opened);
}

void store_name_rank(int rank)
{
    if (store_header == NULL)
        return;
    const int was = errno;
    char named[sizeof path];
    snprintf(named, sizeof named, "%s/rank-%06d.capture", folder, rank);
    // link() fails if the name exists, from an earlier program of the same job; the file then keeps its first name.
    if (link(path, named) == 0) {
        unlink(path);
        strcpy(path, named);
    }
    errno = was;
}

void store_forget(void)
{
    store_on = false;
    store_header = NULL;
    atomic_store(&opened, false);
    atomic_store(&failed, true);
    self = (struct thread_state){0};
    if (file >= 0)
        close(file);
    file = NO_FILE;
}

static void put_text(char *to, size_t room, const char *text)
{
    const size_t n = strnlen(text, room - 1);
    memcpy(to, text, n);
    to[n] = 0;
}

void store_text(int offset, int room, const char *text)
{
    put_text(mapped + offset, (size_t)room, text);
}

// "0-3,8" of those that any thread may run on.
void store_cpus(void)
{
    const int was = errno;
    cpu_set_t all;
    CPU_ZERO(&all);
    DIR *const tasks = opendir("/proc/self/task");
    for (struct dirent *task; tasks != NULL && (task = readdir(tasks)) != NULL;) {
        const int id = atoi(task->d_name);
        cpu_set_t own;
        if (id > 0 && sched_getaffinity(id, sizeof own, &own) == 0)
            CPU_OR(&all, &all, &own);
    }
    if (tasks != NULL)
        closedir(tasks);
    char text[TEXT_CPUS_ROOM] = "";
    size_t n = 0;
    for (int first = 0; first < CPU_SETSIZE && n + 24 < sizeof text; first++) {
        int last = first;
        if (!CPU_ISSET(first, &all))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &all))
            last++;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d-%d", n ? "," : "", first, last);
        first = last;
    }
    store_text(TEXT_CPUS, TEXT_CPUS_ROOM, text);
    errno = was;
}

static bool take_chunk(void)
{
    const unsigned mine = atomic_fetch_add(&chunks_taken, 1);
    if (mine >= most_chunks)
        return false;
    const uint64_t at = FIRST_CHUNK + (uint64_t)mine * FORMAT_CHUNK;
    const int was = errno;
    const bool there = grow(at, FORMAT_CHUNK);
    errno = was;
    if (!there)
        return false;
    if (!self.registered) {
        self.registered = true;
        self.number = atomic_fetch_add(&threads_seen, 1);
        __atomic_fetch_add(&store_header->threads, 1, __ATOMIC_RELAXED);
    }
    struct chunk_head *const head = (struct chunk_head *)(mapped + at);
#ifdef MADV_POPULATE_WRITE
    madvise(head, FORMAT_CHUNK, MADV_POPULATE_WRITE); // page faults now, not in the middle of a region
    errno = was;
#endif
    head->thread = self.number;
    __atomic_store_n(&head->magic, CHUNK_MAGIC, __ATOMIC_RELEASE);
    __atomic_fetch_add(&store_header->chunks, 1, __ATOMIC_RELAXED);
    self.next = (struct record *)(head + 1);
    self.limit = (struct record *)((char *)head + FORMAT_CHUNK);
    return true;
}

// Once a process, by the first rank alone: the others are as far.
static void say_full(void)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&said) || store_header->rank > 0)
        return;
    const int was = errno;
    dprintf(STDERR_FILENO, "pready: full %.0f s after the start (--limit, or the disk): what follows is not recorded\n",
            (double)(now() - store_header->started_ns) / 1e9);
    errno = was;
}

struct record *store_record_slow(enum kind kind, uint16_t site, int32_t who, uint64_t what, int64_t start, int64_t end)
{
    if (self.full || !take_chunk()) {
        if (!self.full)
            say_full();
        self.full = true;
        self.next = self.limit = NULL;
        __atomic_fetch_add(&store_header->dropped, 1, __ATOMIC_RELAXED);
        return NULL;
    }
    return store_record(kind, site, who, what, start, end);
}

// ---- places in the code ---------------------------------------------------------------------------------------------

enum { SLOTS = 4096 }; // a power of two, well above FORMAT_SITES

static struct {
    _Atomic uint64_t key;    // address and caller
    _Atomic uint16_t number; // 0 until known
} slots[SLOTS];
static atomic_uint sites_taken = 1;

static void describe(unsigned number, const void *address, uint32_t kind, uint16_t caller)
{
    struct site *const s = (struct site *)(mapped + FORMAT_HEADER) + number;
    Dl_info info;
    if (dladdr(address, &info) != 0 && info.dli_fname != NULL) {
        // A program that is not position-independent is where its own addresses say.
        const bool fixed = ((const ElfW(Ehdr) *)info.dli_fbase)->e_type == ET_EXEC;
        s->offset = (uint64_t)((uintptr_t)address - (fixed ? 0 : (uintptr_t)info.dli_fbase));
        // The program has the name of its call, which may be no path.
        char real[PATH_MAX];
        const char *name = realpath(info.dli_fname, real) != NULL ? real : info.dli_fname;
        if (access(name, R_OK) != 0)
            name = mapped + TEXT_PROGRAM;
        put_text(s->object, sizeof s->object, name);
        if (info.dli_sname != NULL)
            put_text(s->symbol, sizeof s->symbol, info.dli_sname);
    } else
        s->offset = (uint64_t)(uintptr_t)address;
    s->caller = caller;
    __atomic_store_n(&s->kind, kind, __ATOMIC_RELEASE);
}

uint16_t store_place(const void *address, uint32_t kind, uint16_t caller)
{
    if (address == NULL)
        return 0;
    // A program's addresses have 48 bits.
    const uint64_t key = (uint64_t)(uintptr_t)address ^ (uint64_t)caller << 48;
    const uint64_t mixed = (key ^ kind) * 0x9e3779b97f4a7c15u;
    for (unsigned i = 0; i < 64; i++) {
        const unsigned at = (unsigned)((mixed >> 52) + i) % SLOTS;
        uint64_t there = atomic_load_explicit(&slots[at].key, memory_order_acquire);
        if (there == 0) {
            if (atomic_compare_exchange_strong(&slots[at].key, &there, key)) {
                const unsigned number = atomic_fetch_add(&sites_taken, 1);
                if (number >= FORMAT_SITES)
                    return 0;
                const int was = errno;
                describe(number, address, kind, caller);
                errno = was;
                atomic_store_explicit(&slots[at].number, (uint16_t)number, memory_order_release);
                return (uint16_t)number;
            }
        }
        if (there == key)
            return atomic_load_explicit(&slots[at].number, memory_order_acquire); // 0 while it is being made
    }
    return 0;
}

uint16_t store_site(const void *address, uint32_t kind)
{
    return store_place(address, kind, 0);
}
