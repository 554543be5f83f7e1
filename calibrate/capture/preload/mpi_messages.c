// Messages from one rank to another: blocking, nonblocking, persistent, partitioned.
#include "mpi_wrap.h"

#define SENDS(name, count_t, kind)                                                                                     \
    WRAP(name, (const void *buf, count_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm),                  \
         (buf, count, type, dest, tag, comm), NOTE_SENT(kind, peers_world_rank(dest, comm), peers_bytes(count, type)))
#define ISENDS(name, count_t, kind)                                                                                    \
    WRAP(name,                                                                                                         \
         (const void *buf, count_t count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request),  \
         (buf, count, type, dest, tag, comm, request),                                                                 \
         NOTE_POSTED(kind, peers_world_rank(dest, comm), peers_bytes(count, type)))

#define BOTH_WAYS(count_t)                                                                                             \
    const void *sent, count_t send_count, MPI_Datatype send_type, int dest, int send_tag, void *received,              \
        count_t receive_count, MPI_Datatype receive_type, int source, int receive_tag, MPI_Comm comm
#define BOTH_WAYS_                                                                                                     \
    sent, send_count, send_type, dest, send_tag, received, receive_count, receive_type, source, receive_tag, comm
// Two records of one call; the first has its time.
#define NOTE_BOTH(follow, sent, received, send_count, send_type, receive_count, receive_type)                                          \
    const uint16_t site = CALLED_AT;                                                                                   \
    follow(with_buffer(store_record(KIND_SENDRECV, site, peers_world_rank(dest, comm),                                 \
                                    peers_bytes(send_count, send_type), t0, t1), sent));                               \
    follow(with_buffer(store_record(KIND_SENDRECV_RECEIVE, site, peers_world_rank(source, comm),                       \
                                    peers_bytes(receive_count, receive_type), t1, t1), received))
#define FOLLOW(record) requests_follow(*request, record)

#define MESSAGES(suffix, count_t)                                                                                      \
    SENDS(Send##suffix, count_t, SEND)                                                                                 \
    SENDS(Ssend##suffix, count_t, SEND)                                                                                \
    SENDS(Bsend##suffix, count_t, SEND)                                                                                \
    SENDS(Rsend##suffix, count_t, SEND)                                                                                \
    ISENDS(Isend##suffix, count_t, ISEND)                                                                              \
    ISENDS(Issend##suffix, count_t, ISEND)                                                                             \
    ISENDS(Ibsend##suffix, count_t, ISEND)                                                                             \
    ISENDS(Irsend##suffix, count_t, ISEND)                                                                             \
    WRAP(Recv##suffix,                                                                                                 \
         (void *buf, count_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status *status),        \
         (buf, count, type, source, tag, comm, status),                                                                \
         NOTE_SENT(RECV, peers_world_rank(source, comm), peers_bytes(count, type)))                                         \
    WRAP(Irecv##suffix,                                                                                                \
         (void *buf, count_t count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request),      \
         (buf, count, type, source, tag, comm, request),                                                               \
         NOTE_POSTED(IRECV, peers_world_rank(source, comm), peers_bytes(count, type)))                                        \
    WRAP(Sendrecv##suffix, (BOTH_WAYS(count_t), MPI_Status *status), (BOTH_WAYS_, status),                             \
         NOTE_BOTH(, sent, received, send_count, send_type, receive_count, receive_type))

MESSAGES(, int)
#ifdef HAVE_LARGE_COUNTS
MESSAGES(_c, MPI_Count)
#endif
#ifdef HAVE_MPI_4_CALLS
WRAP(Isendrecv, (BOTH_WAYS(int), MPI_Request *request), (BOTH_WAYS_, request),
     NOTE_BOTH(FOLLOW, sent, received, send_count, send_type, receive_count, receive_type))
WRAP(Isendrecv_replace,
     (void *buf, int count, MPI_Datatype type, int dest, int send_tag, int source, int receive_tag, MPI_Comm comm,
      MPI_Request *request),
     (buf, count, type, dest, send_tag, source, receive_tag, comm, request), NOTE_BOTH(FOLLOW, buf, buf, count, type, count, type))
#endif
WRAP(Sendrecv_replace,
     (void *buf, int count, MPI_Datatype type, int dest, int send_tag, int source, int receive_tag, MPI_Comm comm,
      MPI_Status *status),
     (buf, count, type, dest, send_tag, source, receive_tag, comm, status), NOTE_BOTH(, buf, buf, count, type, count, type))
WRAP(Mrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Status *status),
     (buf, count, type, message, status), NOTE_SENT(RECV, PEER_ANY, peers_bytes(count, type)))
WRAP(Imrecv, (void *buf, int count, MPI_Datatype type, MPI_Message *message, MPI_Request *request),
     (buf, count, type, message, request), NOTE_POSTED(IRECV, PEER_ANY, peers_bytes(count, type)))

// ---- persistent -----------------------------------------------------------------------------------------------------

#define NOTE_PERSISTENT(kind, starts_as, other, parts)                                                                 \
    if (rc == MPI_SUCCESS) {                                                                                           \
        const struct persistent about = {peers_bytes(count, type), (uint64_t)(parts), buf,                             \
                                         peers_world_rank(other, comm), KIND_##starts_as};                             \
        requests_keep(*request, about);                                                                                \
        NOTE(kind, about.peer, about.bytes *about.partitions);                                                         \
    }
#define SEND_INITS(name)                                                                                               \
    WRAP(name,                                                                                                         \
         (const void *buf, int count, MPI_Datatype type, int dest, int tag, MPI_Comm comm, MPI_Request *request),      \
         (buf, count, type, dest, tag, comm, request), NOTE_PERSISTENT(SEND_INIT, START_SEND, dest, 1))
SEND_INITS(Send_init)
SEND_INITS(Ssend_init)
SEND_INITS(Bsend_init)
SEND_INITS(Rsend_init)
WRAP(Recv_init, (void *buf, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request *request),
     (buf, count, type, source, tag, comm, request), NOTE_PERSISTENT(RECV_INIT, START_RECV, source, 1))

#ifdef HAVE_MPI_4_CALLS
WRAP(Psend_init,
     (const void *buf, int partitions, MPI_Count count, MPI_Datatype type, int dest, int tag, MPI_Comm comm,
      MPI_Info info, MPI_Request *request),
     (buf, partitions, count, type, dest, tag, comm, info, request),
     NOTE_PERSISTENT(PSEND_INIT, PSTART_SEND, dest, partitions))
WRAP(Precv_init,
     (void *buf, int partitions, MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Info info,
      MPI_Request *request),
     (buf, partitions, count, type, source, tag, comm, info, request),
     NOTE_PERSISTENT(PRECV_INIT, PSTART_RECV, source, partitions))

static struct persistent of(MPI_Request request)
{
    struct persistent about = {.peer = PEER_UNKNOWN};
    requests_find(request, &about);
    return about;
}

WRAP(Pready, (int partition, MPI_Request request), (partition, request),
     const struct persistent about = of(request);
     NOTE(PREADY, about.peer, about.bytes))
WRAP(Pready_range, (int low, int high, MPI_Request request), (low, high, request),
     const struct persistent about = of(request);
     NOTE(PREADY, about.peer, about.bytes *(uint64_t)(high >= low ? high - low + 1 : 0)))
#ifdef OPEN_MPI
#define PREADY_LIST int list[]
#else
#define PREADY_LIST const int list[]
#endif
#define NOTE_LIST                                                                                                      \
    const struct persistent about = of(request);                                                                       \
    NOTE(PREADY, about.peer, about.bytes *NUMBER(length))
WRAP(Pready_list, (int length, PREADY_LIST, MPI_Request request), (length, list, request), NOTE_LIST)
WRAP(Parrived, (MPI_Request request, int partition, int *flag), (request, partition, flag),
     const struct persistent about = of(request);
     NOTE(PARRIVED, about.peer, about.bytes))
#endif

static void started(MPI_Request request, uint16_t site, int64_t t0, int64_t t1)
{
    struct persistent about;
    if (requests_find(request, &about))
        requests_follow(request, with_buffer(store_record((enum kind)about.start_kind, site, about.peer,
                                                          about.bytes * about.partitions, t0, t1), about.buffer));
    else
        store_record(KIND_STARTALL, site, PEER_UNKNOWN, 0, t0, t1);
}

WRAP(Start, (MPI_Request * request), (request), started(*request, CALLED_AT, t0, t1))
// The call's own record has the time; those of its messages have none.
WRAP(Startall, (int count, MPI_Request requests[]), (count, requests), const uint16_t site = CALLED_AT;
     store_record(KIND_STARTALL, site, PEER_NOT_ONE, NUMBER(count), t0, t1);
     for (int i = 0; i < count; i++) started(requests[i], site, t1, t1))
WRAP_BEFORE(Request_free, (MPI_Request * request), (request), requests_drop(*request), (void)0)
