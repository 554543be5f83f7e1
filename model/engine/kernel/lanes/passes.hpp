// What passes over ranks read and write, and the table of one instruction set's version of them.
#pragma once

#include <cstdint>

#include "recurrence/plan.hpp"

namespace pready {

// The head of a rank's record in a window: a cache line, as what receivers look at is far apart. Times are absolute.
enum Head : int { kStart, kFirst, kReady, kJoin, kIssued, kDone, kNic, kEarly, kHead };

// Sums over ranks, by iteration.
enum Sum : int {
    kDuration, kCompute, kLate, kIssue, kNicTime, kWire, kReceive, kSpread, kToJoin, kEarlyCount, kConsume,
    kSums
};

constexpr int kBlock = 64;  // ranks whose sums are added up first; chunks are multiples of it
constexpr int kCells = 8;   // partial sums of a block, by rank modulo 8

struct Extremes {
    double shortest, longest, first_end, last_end;

    void take(double took, double end) {
        widen({took, took, end, end});
    }

    void widen(const Extremes& by) {
        if (by.shortest < shortest) shortest = by.shortest;
        if (by.longest > longest) longest = by.longest;
        if (by.first_end < first_end) first_end = by.first_end;
        if (by.last_end > last_end) last_end = by.last_end;
    }
};

// State of all ranks at the beginning of an iteration, and where the next one goes.
struct State {
    const double* start;
    const double* nic;
    const double* gate;  // optional
    double* next_start;
    double* next_nic;
    double* next_gate;
    double* adapter;   // [nodes]: when each is free, of this and then of the next
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
    std::int64_t (*scratch)(const Plan&);  // bytes
    void (*send)(const Plan&, const State&, const Window&, void* scratch, std::int64_t iteration,
                 std::int64_t first, std::int64_t last);
    void (*receive)(const Plan&, const State&, const Window&, void* scratch, std::int64_t first,
                    std::int64_t last, Extremes&);
    void (*gates)(const Plan&, const double* start, double* gate, void* scratch,
                  std::int64_t iteration, std::int64_t first, std::int64_t last);
    void (*sweep)(const Plan&, const State&, const Window&, void* scratch, std::int64_t step,
                  const std::int64_t* members, const std::int64_t* up, const std::int64_t* down,
                  std::int64_t count);  // up, down: [count][2], -1 beyond the border
    void (*tree)(const Plan&, const State&, const Window&, void* scratch, std::int64_t iteration,
                 std::int64_t first, std::int64_t last, Extremes&);  // of one level, the root's first
    void (*nodes)(const Plan&, const State&, const Window&, void* scratch, std::int64_t first,
                  std::int64_t last);  // between send and receive, where ranks share adapters
    std::int64_t (*node_scratch)(const Plan&);  // bytes
    void (*times)(const Plan&, void* scratch, std::int64_t iteration, std::int64_t first, std::int64_t last,
                  double* out);  // of partitions: [partition][rank]
};

const Passes& passes_baseline();
#ifdef PREADY_X86_LEVELS
const Passes& passes_avx2();
const Passes& passes_avx512();
#endif

}  // namespace pready
