// What one simulation needs to know, as plain numbers and pointers (owned by `Fields` and `Sorting`).
//
// A "profile" is the set of directions in which a rank has a neighbour: all of them in the interior,
// fewer at an open boundary or in a neighbour list. See ../__init__.py for the model.
#pragma once

#include <cstdint>

namespace pready {

enum class Pattern : int { grid = 0, pairs = 1, list = 2, sweep = 3 };
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
    int size = 0;                      // of all
    int levels = 0;
    const Network* network = nullptr;  // [levels]: of the latest 1, 3, 7, ... of each source, of all
    const Network* between = nullptr;  // of several classes: of the latest 2 and 5
    std::int64_t numbers = 0;          // all ones, as many as the numbers of messages have bits
    int most = 0;                      // messages that one VCI receives, at most
};

// What leaves nodes, where it is all of one class: a rank issues it in trains of evenly spaced messages.
struct NodeTrains {
    int slots = 0;         // as many messages may a train have, with gaps; 0: there are none
    int most = 0;          // trains of a turn, if all that stays within the node parts them
    int messages = 0;      // of a node, at most
    Network one, several;  // all trains of a node, of turns of one train and of the most
    std::int64_t numbers = 0;  // all ones, as many as their numbers have bits
};

constexpr int kTrainSlots = 32;

constexpr int kFew = 4;       // classes of which a lane has one: all are looked at
constexpr int kKindBits = 2;  // which tell so many apart

struct Plan {
#define SCALAR(type, name) type name;
#define TRIPLE(type, name) type name[3];
#define ARRAY(type, name, ...) const type* name;
#include "fields.def"

    // What follows from the fields.
    int outer;       // the outermost axis with more than one rank; it never wraps in window coordinates
    int jobs;        // what queues for a VCI: transport partitions, or single messages if `mapped`
    bool needs_out;  // go-aheads or handshakes: a send looks at its receivers
    bool keeps_ends;  // a send looks at each thread's last mark
    bool everywhere;  // every rank has a neighbour in every direction
    bool gates;      // when ranks' threads meet is known before anyone sends
    bool send_sorts;
    bool cools;      // pauses cost something
    bool tags;       // arrivals tell in their last bits which VCI they are received by
    bool ticks;  // in whole picoseconds, then by number: where several receivers' go-aheads compete
    int record;  // doubles per rank in a window
    bool lists_leaving;  // with nodes: messages leave in another order than that of issue
    bool keeps_turns;  // with nodes: what leaves it follows from when each transport partition's turn begins; of
                       // several VCIs, whatever comes first goes first
    int leaving;  // where in a record stands what leaves the node: when turns begin, since the rank's start, or, if
                  // `lists_leaving`, how many messages and then their numbers in order
    int shared;  // where in a record of a sweep stands, by direction, when the last message is there that another shared the
                 // cable with; 0 elsewhere
    int through;  // where in a record stands when messages are through their receivers' ports, if some are `overrun`
    bool keeps_ports;  // go-aheads wait behind what leaves in the same exchange: ranks send in rounds
    int port;  // where in a record stands what lies in its port, for this round and the next, if so
    int cpu;  // where in a record stands what the rank's CPU does between its sends, if it answers there
    int coming;  // where in a record stands what comes to the rank and lies there, if that counts
    std::int64_t numbers;  // all ones, as many as the numbers of a rank's messages have bits

    // Times of partitions that were drawn before, [iteration][partition][rank], or null.
    const double* times;

    // Where messages lie, and how they are brought into order.
    const std::int32_t* message_direction;  // [transports * D] by issue position
    const std::int32_t* message_vci;        // the same; 0 without tags
    const std::int32_t* vci_messages;       // [vcis][D]: messages of a VCI to a direction
    const std::int32_t* message_slot;       // [transports * D] place in a record of what leaves as it is issued
    std::int64_t vci_bits;                  // all ones, as many as a tag has bits
    Inbox inbox;
    const Network* queue_network;           // mapped: [vcis]
    Network send_network;                   // used if `send_sorts`

    // Of few classes, where ranks have their own profiles: [ranks], bits by direction, the class of what goes there; or
    // null.
    const std::int64_t* rank_kinds;

    // Nodes whose ranks keep turns.
    const std::int32_t* node_out;     // [profiles][directions + 1]: in how many directions messages leave, and which
    const Network* inside_networks;   // several VCIs: [directions + 1]: what is sent to so many directions
    Network turns_network;            // and to one

    NodeTrains node_trains;

    // What leaves a node, rank by rank, where enough nodes are alike to be taken side by side; else a network of
    // nothing.
    Network node_network;
    int node_lists;                  // of a rank, each of which is in order
    const std::int32_t* node_first;  // [ranks of a node * lists + 1]: the number of a list's first message
    const std::int32_t* node_owner;  // by that number: which rank of its node
    std::int64_t node_numbers;       // all ones, as many as these numbers have bits
};

}  // namespace pready
