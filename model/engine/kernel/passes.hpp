// What passes over ranks read and write, and the table of one instruction set's version of them.
#pragma once

#include <cstdint>

#include "plan.hpp"

namespace pready {

// The head of a rank's record in a window; times are absolute. The last four are there where they matter: of a shaped
// link, of epochs, of ports that several flows share.
enum Head : int { kStart, kFirst, kReady, kJoin, kIssued, kDone, kNic, kEarly, kTurn, kNotify, kBegun, kSpan, kHead };

// Sums over ranks, by iteration.
enum Sum : int {
    kDuration, kCompute, kLate, kIssue, kNicTime, kWire, kReceive, kSpread, kToJoin, kAfterJoin, kEarlyCount, kSums
};

// Rounds in which ranks send, at most, where go-aheads wait in ports: each with the ports as the one before left them.
// Most exchanges need four until nothing changes: what waits for what waits is rare.
constexpr int kRounds = 32;

// What lies in a port (see port.hpp), in doubles.
// In a sweep receivers have sent all when they answer: nothing but until when their ports are taken.
inline int listed(const Plan& p) { return p.keeps_ports ? p.transports * p.directions : 0; }
inline int port_size(const Plan& p) { return (p.one_cpu ? 3 : 2) * listed(p) + 1; }

// What a CPU does that answers between its sends (see cpu.hpp), in doubles.
inline int cpu_size(const Plan& p) { return p.transports + 2 * p.transports * p.directions; }

// What comes to a rank and lies in its port (see backlog.hpp), in doubles: a message begins to come, and ends.
inline int comings(const Plan& p) { return 2 * p.sources * p.transports; }
inline int coming_size(const Plan& p) { return 3 * comings(p); }

constexpr int kBlock = 64;  // ranks whose sums are added up first; chunks are multiples of it
constexpr int kCells = 8;   // partial sums of a block, by rank modulo 8

struct Extremes {
    double shortest, longest, first_end, last_end;
};

// State of all ranks at the beginning of an iteration, and where the next one goes.
struct State {
    const double* start;
    const double* nic;
    const double* turn;  // of a shaped link; optional, as the gates
    const double* gate;
    double* next_start;
    double* next_nic;
    double* next_turn;
    double* next_gate;
    double* adapter;   // [nodes]: when each is free, of this and then of the next
    double* in_port;   // [ranks]: the same of what comes to a rank, where ports are overrun
    double* in_turn;   // [ranks]: and of the link's bucket
    double* received;  // optional, [ranks]
    double* sums;      // [blocks][kSums]
};

// Records of consecutive ranks in window coordinates; see `record_at`.
struct Window {
    double* data;
    std::int64_t mask;   // capacity - 1, or -1: as many records as ranks
    std::int64_t ranks;
    int record;
};

struct Passes {
    const char* name;
    int lanes;
    std::int64_t (*scratch)(const Plan&);  // bytes
    void (*send)(const Plan&, const State&, const Window&, void* scratch, std::int64_t iteration, int round,
                 std::int64_t first, std::int64_t last);
    void (*receive)(const Plan&, const State&, const Window&, void* scratch, std::int64_t first,
                    std::int64_t last, Extremes&);
    void (*gates)(const Plan&, const double* start, double* gate, void* scratch,
                  std::int64_t iteration, std::int64_t first, std::int64_t last);
    void (*sweep)(const Plan&, const State&, const Window&, void* scratch, std::int64_t step,
                  const std::int64_t* members, const std::int64_t* up, const std::int64_t* down,
                  std::int64_t count);  // up, down: [count][2], -1 beyond the border
    void (*nodes)(const Plan&, const State&, const Window&, void* scratch, std::int64_t first,
                  std::int64_t last);  // between send and receive, where ranks share adapters
    std::int64_t (*node_scratch)(const Plan&);  // bytes
    void (*ports)(const Plan&, const State&, const Window&, std::int64_t first,
                  std::int64_t last);  // between send and receive, where ports are overrun
    void (*settle)(const Plan&, const Window&, void* scratch, int round, std::int64_t first,
                   std::int64_t last);  // between two rounds of sends, where what asks waits behind what comes, or for a CPU
    void (*draw)(const Plan&, void* scratch, std::int64_t rank, std::int64_t iteration, double* out);
    void (*times)(const Plan&, void* scratch, std::int64_t iteration, double* out);
};

const Passes& passes_baseline();
#ifdef PREADY_X86_LEVELS
const Passes& passes_avx2();
const Passes& passes_avx512();
#endif

}  // namespace pready
