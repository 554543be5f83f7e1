// What one simulation needs to know, as plain numbers and pointers (owned by engine.cpp).
//
// Times in seconds. A "profile" is the set of directions in which a rank has a neighbour: all of them
// in the interior, fewer at an open boundary or in a neighbour list. See ../__init__.py for the model.
#pragma once

#include <cstdint>

namespace pready {

enum class Pattern : int { grid = 0, pairs = 1, list = 2, sweep = 3 };
enum class Arrivals : int { table = 0, threads = 1, gaussian = 2 };
enum class Select : int { first = 0, turn = 1, draw = 2 };
enum class Density : int { uniform = 0, normal = 1, kernel = 2 };
enum class Receivers : int { master = 0, threads = 1, none = 2 };
enum class Sync : int { none = 0, active = 1, passive = 2 };

// A network of comparators that merges sorted lists, and where the i-th smallest value ends up.
struct Network {
    const std::int32_t* pairs = nullptr;  // low, high, low, high, ...
    const std::int32_t* order = nullptr;  // positions in increasing order of value
    std::int64_t comparators = 0;
    int size = 0;
};

// What queues for one server of a receiver: sorted lists of messages, one after the other.
struct Inbox {
    int lists = 0;
    int size = 0;                         // of all lists
    const std::int32_t* source = nullptr;  // [lists]
    const std::int32_t* from = nullptr;    // [lists] place in what the source sends this way
    const std::int32_t* begin = nullptr;   // [lists + 1] place among all lists
    int levels = 0;
    const Network* network = nullptr;  // [levels]: of the latest 1, 3, 7, ... of each list, of all
};

struct Plan {
    // Who talks to whom.
    std::int64_t ranks;
    Pattern pattern;
    std::int64_t dims[3];
    bool periodic[3];
    int outer;       // the outermost axis with more than one rank; it never wraps in window coordinates
    int directions;  // D: at most so many messages' destinations per rank
    int sources;     // at most so many messages' origins per rank
    const std::int32_t* step;          // [D][3]
    const std::int32_t* direction_class;  // [D]
    int classes;
    const std::int64_t* out_start;     // list: [ranks + 1]
    const std::int64_t* out_rank;
    const std::int64_t* in_start;
    const std::int64_t* in_rank;
    const std::int32_t* in_slot;       // which message of its sender an edge carries
    std::int64_t blocks;               // sweep: blocks per octant

    // Profiles.
    int profiles;
    const std::uint8_t* present;  // [profiles][D]
    const std::int32_t* nth;      // [profiles][D]: messages up to and including this direction
    const std::int32_t* degree;   // [profiles]
    const double* hold;           // [profiles][vcis][D]: from the lock to this message's issue
    const double* hold_all;       // [profiles][vcis]: until the lock is free for the next

    // When partitions are ready.
    std::uint64_t seed;
    Arrivals arrivals;
    Select select;
    std::int64_t table_rows;
    const double* table;  // [rows][4 + jobs]: first, last, marked, unused, starts
    Density density;
    int threads, theta, per_bin;
    double base, noise, sd, cut;  // uniform and normal; of one partition for Gaussian
    const double* share;          // [theta]
    std::int64_t kernels;
    const double* centre;         // [kernels]
    const double* centre_cut;
    double width;
    double pready, barrier;
    bool counts, joins;

    // Messages.
    int transports;  // messages per neighbour
    int jobs;        // what queues for a VCI: transport partitions, or single messages if `mapped`
    bool mapped;     // threads own parts of faces: a message's partitions depend on its direction
    const std::int32_t* part_start;  // mapped: [threads * theta + 1], the messages of a partition
    const std::int32_t* part_job;
    int vcis;
    const std::int32_t* vci_size;     // [vcis] jobs
    const std::int32_t* vci_members;  // [jobs]
    const std::int32_t* share_size;   // [vcis][D]: messages of a VCI to a direction
    const std::int32_t* share_begin;  // [vcis][D]: the first of them in a record
    const double* hold_each;          // [vcis][classes]
    const double* between;            // [profiles][classes]: to receive a message before the next turn
    bool burst;      // one VCI, one class, eager: a burst is described by its first message
    double burst_hold, burst_gap;
    bool needs_out;  // go-aheads or handshakes: a send looks at its receivers
    bool opens;
    double opened;
    double wake;     // what a thread of a team takes longer, on waking up, to issue a message itself
    double waking;   // time since the iteration began after which 63 % of it is paid; 0: at once
    double link;     // of one message, as the pause before the next sees it
    double cold, cooling;  // what a pause makes a message take longer, at most, and after which pause 63 % of it
    bool late_puts;  // data move inside the call that ends the epoch, after the rank's own join
    bool two_sided, rendezvous, gate_is_join;
    bool sender_waits;  // an answered handshake is seen only after the sender's own join
    const double* half;     // [classes] half a handshake; 0 for eager
    const double* service;  // [classes] of the NIC
    const double* travel;   // [classes] stream + wire
    const double* stream;   // [classes]
    const double* wire;     // [classes]
    const std::uint8_t* late_done;  // [classes] a send completes when its last byte has left

    // Receive and finish.
    Receivers receivers;
    bool waits;        // completing takes the CPU: not before the rank's own join
    bool receiver_computes;
    const double* receive;  // [classes]
    bool serves;            // receiving takes time, so arrivals queue
    double per_entry;       // 0 where nothing is matched
    double poll;            // (VCIs - 1) times the cost of polling one
    Sync sync;
    bool window_per_thread;
    double closing, control, ack;  // ack: how long an acknowledgement travels

    // Networks.
    const Inbox* inbox;              // master: [1]; threads: [vcis]
    const Network* queue_network;    // mapped: [vcis]
    Network send_network;            // used if `send_sorts`
    bool send_sorts;
    bool ticks;  // in whole picoseconds, then by number: where several receivers' go-aheads compete
    const std::int32_t* message_direction;  // [transports * D] by issue position
    const std::int32_t* message_slot;       // [transports * D] place in a record

    int record;  // doubles per rank in a window
};

// The head of a rank's record in a window; times are absolute.
enum Head : int { kStart, kFirst, kReady, kJoin, kIssued, kDone, kNic, kNotify, kEarly, kHead };

// Sums over ranks, by iteration.
enum Sum : int {
    kDuration, kCompute, kLate, kIssue, kNicTime, kWire, kReceive, kSpread, kToJoin, kAfterJoin, kEarlyCount, kSums
};

constexpr int kBlock = 64;  // ranks whose sums are added up first; chunks are multiples of it
constexpr int kCells = 8;   // partial sums of a block, by rank modulo 8

struct Extremes {
    double shortest, longest, first_end, last_end;
};

// State of all ranks at the beginning of an iteration, and where the next one goes.
struct State {
    const double* start;
    const double* nic;
    const double* gate;
    double* next_start;
    double* next_nic;
    double* next_gate;
    double* received;  // optional, [ranks]
    double* sums;      // [blocks][kSums]
};

// Records of consecutive ranks in window coordinates.
struct Window {
    double* data;
    std::int64_t mask;   // capacity - 1, or -1: as many records as ranks
    std::int64_t ranks;
    int record;

    double* at(std::int64_t u) const {
        std::int64_t i = u & mask;
        if (mask < 0) i = u < 0 ? u + ranks : u >= ranks ? u - ranks : u;
        return data + i * record;
    }
};

// One instruction set's version of the passes over ranks.
struct Passes {
    const char* name;
    int lanes;
    std::int64_t (*scratch)(const Plan&);  // bytes
    void (*send)(const Plan&, const State&, const Window&, void* scratch, std::int64_t iteration,
                 std::int64_t first, std::int64_t last);
    void (*receive)(const Plan&, const State&, const Window&, void* scratch, std::int64_t iteration,
                    std::int64_t first, std::int64_t last, Extremes&);
    void (*gates)(const Plan&, const double* start, double* gate, void* scratch,
                  std::int64_t iteration, std::int64_t first, std::int64_t last);
    void (*sweep)(const Plan&, const State&, const Window&, void* scratch, std::int64_t step,
                  const std::int64_t* members, const std::int64_t* up, const std::int64_t* down,
                  std::int64_t count);  // up, down: [count][2], -1 beyond the border
    void (*draw)(const Plan&, void* scratch, std::int64_t rank, std::int64_t iteration, double* out);
};

const Passes& passes_baseline();
#ifdef PREADY_X86_LEVELS
const Passes& passes_avx2();
const Passes& passes_avx512();
#endif

}  // namespace pready
