// What one simulation needs to know, as plain numbers and pointers (owned by `Fields` and `Sorting`).
//
// A "profile" is the set of directions in which a rank has a neighbour: all of them in the interior,
// fewer at an open boundary or in a neighbour list. The engine's docstring has the model.
#pragma once

#include <cstdint>

namespace pready {

enum class Pattern : int { grid = 0, pairs = 1, list = 2, sweep = 3, tree = 4 };
enum class Arrivals : int { table = 0, threads = 1, gaussian = 2 };
enum class Select : int { first = 0, turn = 1, draw = 2 };
enum class Density : int { uniform = 0, normal = 1, kernel = 2 };
enum class Receivers : int { master = 0, threads = 1, none = 2 };
enum class Sync : int { none = 0, active = 1, passive = 2 };
using Seed = std::uint64_t;

constexpr int kSorts = 32;

// A network of comparators that merges sorted lists, and where the i-th smallest value ends up.
struct Network {
    // How many values a step takes (2, 4, 8 or 16; kSorts more if they are in no order at all), how many such steps
    // there are, which values; and so on.
    const std::int32_t* steps = nullptr;
    const std::int32_t* end = nullptr;
    const std::int32_t* order = nullptr;  // positions in increasing order of value
    int size = 0;
};

// What comes to a rank: a sorted list of messages from each source, one after the other.
struct Inbox {
    int each = 0;                      // messages of a source
    int levels = 0;
    const Network* network = nullptr;  // [levels]: of the latest 1, 3, 7, ... of each source, of all
    const Network* between = nullptr;  // of the latest 2 and 5
    std::int64_t numbers = 0;          // all ones, as many as the numbers of messages have bits
};

constexpr int kFew = 4;       // classes of which a lane has one: all are looked at

struct Plan {
#define SCALAR(type, name) type name;
#define TRIPLE(type, name) type name[3];
#define ARRAY(type, name, ...) const type* name;
#include "recurrence/fields.def"

    // What follows from the fields.
    int outer;       // the outermost axis with more than one rank; it never wraps in window coordinates
    int jobs;        // transport partitions, or single messages if `mapped`: each queues for its VCI
    bool rendezvous;     // some class asks
    bool needs_out;  // a send looks at its receivers
    bool everywhere;  // every rank has a neighbour in every direction
    bool gated;      // some message is answered only in MPI
    bool gates;      // when ranks are in MPI is known before anyone sends
    int in_mpi;      // where in a record stands from when on, by group, if each thread completes its own messages
    bool send_sorts;
    bool tags;       // arrivals tell in their last bits which VCI they are received by
    bool ticks;  // in whole picoseconds, then by number: where clear-to-sends of several receivers compete
    int record;  // doubles per rank in a window: whole cache lines
    int notify;  // where in a record stands, of epochs, when the receivers are told
    bool lists_leaving;  // with nodes: messages leave in another order than that of issue
    int leaving;  // where in a record stands, if so, how many leave the node, and then their places in order
    std::int64_t numbers;  // all ones, as many as the numbers of a rank's messages have bits

    // Times of partitions that were drawn before, [iteration][partition][rank], or null.
    const double* times;

    // Where messages lie, and how they are brought into order.
    const std::int32_t* message_direction;  // [transports * D] by issue position
    const std::int32_t* message_vci;        // the same; 0 without tags
    const std::int32_t* vci_messages;       // [vcis][D]: messages of a VCI to a direction
    const std::int32_t* message_slot;       // [transports * D] place in a record of what leaves as it is issued
    const std::int32_t* slot_direction;     // [record] by place in a record
    std::int64_t vci_bits;                  // all ones, as many as a tag has bits
    Inbox inbox;
    const Network* queue_network;           // mapped: [vcis]
    Network send_network;                   // used if `send_sorts`
};

}  // namespace pready
