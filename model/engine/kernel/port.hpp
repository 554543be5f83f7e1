// What lies in a rank's port: its go-aheads leave behind that.
#pragma once

#include <algorithm>

#include "exchange.hpp"

namespace pready {
namespace {

// Where a record keeps a port as a round leaves it: until when it was taken when the exchange began, and by each message,
// in the order in which they leave; since when these lie there, in whole picoseconds and none before what it leaves
// behind. Then, where a CPU answers between its sends, when each message asks its receiver, by direction and then in the
// order in which the rank issues them.
inline int port_of(const Plan& p, int round) { return p.port + round % 2 * port_size(p); }

// Of one lane, as its messages leave.
struct PortNotes {
    double* taken = nullptr;
    double* since = nullptr;
    double latest = -kInf;

    PortNotes() = default;
    PortNotes(const Plan& p, double* record, const Exchange& x, int lane) {
        double* port = record + port_of(p, x.round);
        port[0] = x.start[lane] + x.nic[lane];
        taken = port + 1;
        since = taken + listed(p);
    }
    void add(double at, double until) {
        latest = at > latest ? at : latest;
        *since++ = ticks(latest);
        *taken++ = until;
    }
    void close(const Plan& p, const double* record, const Exchange& x) {
        const double* end = record + port_of(p, x.round) + 1 + 2 * listed(p);
        while (since < end) *since++ = kInf;
    }
};

// How long a go-ahead waits that is given at an absolute time, for a message of class c.
inline double waits(const Plan& p, const double* port, std::int32_t c, double given) {
    const double* since = port + 1 + listed(p);
    const std::ptrdiff_t before = std::lower_bound(since, since + listed(p), ticks(given)) - since;
    const double left = port[before] - given;
    return left > 0 ? std::min(left, p.queue[c]) : 0.0;
}

}  // namespace
}  // namespace pready
