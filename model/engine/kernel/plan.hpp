// What one simulation needs to know. Times in seconds; docs/theory/engine.md has the model.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <vector>

namespace pready {

using Index = std::int32_t;
using Lists = std::vector<std::vector<Index>>;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNever = -kInf;

// Messages of one class: of one size, over one path. A row of `Costs` in the order of `kKindFields`.
struct Kind {
    double hold;     // 2. issue: of the VCI's lock
    double half;     // 3. protocol: half a handshake
    double gap;      // 4. NIC: g
    double busy;     // 4. the port, until the next message may follow
    double port;     // 6. the same of the receiver's port
    double alone;    // 4. the same of one message alone, which streams at its own pace
    double shared;   // 4. the same of an adapter that ranks of a node share
    double stream;   // 5. wire: G m
    double wire;     // 5. L
    double receive;  // 6. receive: CPU time, the search of a queue aside
    double ack;      // 7. finish: from an arrival until the sender knows
    double work;     // consume: of a receiver's thread on one user partition

    double travel() const { return stream + wire; }
};
constexpr std::array kKindFields{"hold", "half", "gap", "busy", "port", "alone", "shared", "stream", "wire", "receive", "ack", "work"};
static_assert(sizeof(Kind) == kKindFields.size() * sizeof(double));

// What a rank pays whatever its messages.
struct Team {
    double barrier;    // its threads meet
    double control;    // a message without payload, from call to call
    double per_entry;  // matching: each entry of a queue that is searched
    double closing;    // an epoch at each end
    double tested;     // from an arrival until a thread that tests its partitions sees it
};
constexpr std::array kTeamFields{"barrier", "control", "per_entry", "closing", "tested"};
static_assert(sizeof(Team) == kTeamFields.size() * sizeof(double));

struct Costs {
    std::vector<Kind> kinds;
    Team team;
    std::vector<double> contention;  // by VCI: what a message pays that waits for its lock
};

// Which rules hold for a class of messages, whatever its costs.
struct Protocol {
    bool asks;    // goes once the receiver has answered
    bool in_mpi;  // which it does only in MPI
    bool leaves;  // its send is complete once the last byte has left; else once it may go
    bool inside;  // stays within a node
    bool sender;  // goes once its sender is in MPI, too
};

enum class Sync : int { none = 0, active = 1, passive = 2 };
enum class Receivers : int { master = 0, threads = 1, none = 2 };

struct Interface {
    bool joins;               // the threads meet before anything goes
    bool granted;             // each message needs a clear-to-send of its receiver
    bool two_sided;           // the rank that comes second starts the transfer
    bool one_by_one;          // a message is issued when the send before is complete
    bool own_threads;         // each thread completes its own messages; else one thread all
    bool deferred;            // puts move in the call that ends the epoch
    bool tells;               // MPI tells of each message, not only of the end
    bool windows_per_thread;
    bool tests;               // a thread is in MPI as soon as its part is ready
    Sync sync;
    Receivers receivers;
};

struct Setting {
    int threads, theta;    // theta: user partitions of a thread
    bool two_way;          // a rank's peers send to it while it sends to them
    bool computing;        // a receiver computes, rather than waits in MPI
    bool progress_thread;
    int consumers;         // threads that work on what comes; 0: that is no part of the exchange
    int received_in;       // partitions of a message that they work on
    double boundary;       // share of a thread's computing after which its partitions are ready
    double slower;         // by which threads compute longer that share their cores
};

// A job queues for a VCI: a transport partition, which goes to all neighbours, or where threads own parts of faces
// (`mapped`) one message, number t * directions + d.
struct Messages {
    int transports;  // messages to each neighbour
    bool mapped;
    double in_order; // of a VCI's queue, those that one thread of one neighbour sends
    Lists vcis;      // the jobs of each
    Lists needs;     // the user partitions of each job
    Lists serving;   // threads that make progress: of all VCIs, or VCI by VCI
    std::vector<double> packing;  // by user partition: until its thread has packed it; empty: threads pack nothing
};

// Who sends to whom: tables of `directions` receivers and `sources` senders of each rank, -1 for none.
struct Neighbours {
    std::vector<Index> to, from;
    std::vector<Index> slot;   // of each sender, its direction; empty: the number of the source
    std::vector<Index> order;  // of ranks that wait for each other in one exchange; empty: any
};

struct Pattern {
    std::int64_t ranks;
    int directions, sources;
    std::vector<Neighbours> tables;  // one, or one for each corner from which a sweep begins
    std::vector<Index> profile;      // of each rank: its row of `kind`
    std::vector<Index> kind;         // [profiles][directions]: the class of what goes there
    std::vector<std::int64_t> node_start, node_rank;  // ranks by adapter that they share; empty: each has its own
    std::int64_t alone;  // exchanges side by side, each from rest: rank r sends to r + alone, and counts; 0: none
    bool tree;           // rank 0 sends to all, who send on what they receive
    std::int64_t blocks; // of a sweep, per octant; 0: no sweep
    bool distinct = true;  // no rank has two directions that lead to the same one

    std::int64_t steps() const { return blocks > 0 ? 8 * blocks : 1; }
    std::int64_t counted() const { return alone > 0 ? alone : ranks; }
    std::int64_t nodes() const { return node_start.empty() ? 0 : static_cast<std::int64_t>(node_start.size()) - 1; }
    bool ordered() const { return tree || blocks > 0; }
};

struct Plan {
    const Pattern& pattern;
    Interface interface;
    Setting setting;
    Messages messages;
    std::vector<Protocol> protocols;  // by class

    int vcis() const { return static_cast<int>(messages.vcis.size()); }
    int jobs() const { return static_cast<int>(messages.needs.size()); }
    int groups() const { return static_cast<int>(messages.serving.size()); }
    int group_of(int vci) const { return groups() == 1 ? 0 : vci; }
    std::int64_t sent() const { return std::int64_t{messages.transports} * pattern.directions; }
    bool opens() const { return interface.sync != Sync::none; }
    bool as_drawn() const { return setting.boundary == 1 && setting.slower == 1 && messages.packing.empty(); }
    bool waits() const { return setting.computing && !setting.progress_thread; }
    // Does it matter when messages begin to leave: to a port that several senders share, or an adapter?
    bool shares() const { return (pattern.sources > 1 && pattern.alone == 0) || pattern.nodes() > 0; }
    bool by_vci() const { return interface.receivers == Receivers::threads && vcis() > 1; }
    std::size_t spans() const { return messages.needs.size() + messages.vcis.size(); }  // one for each job, and an end of each VCI's
    // Does the thread that receives send, too? Not one that waits beside threads with a VCI each.
    bool takes_turns() const {
        return setting.two_way && interface.receivers != Receivers::none && (by_vci() || vcis() == 1 || waits());
    }
    // Is a thread in MPI between two jobs, which receives what has come? One that makes progress lets them go first.
    bool receives_between() const { return takes_turns() && (interface.own_threads || !setting.computing); }
    bool asks() const {
        for (const Protocol& p : protocols) if (p.asks) return true;
        return false;
    }
    // Does a send look at its receivers?
    bool looks() const { return opens() || interface.granted || interface.two_sided || asks(); }
};

}  // namespace pready
