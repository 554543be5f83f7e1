// What comes to a rank from several others at once, faster than its port lets it through: who asks that rank, and what it
// asked for itself, waits behind that.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "exchange.hpp"

namespace pready {
namespace {

// Of one rank, as a record keeps it: when what comes changes, how much lies there then, in seconds, and by how much that
// grows in a second. Behind the last change nothing comes.
struct Backlog {
    double* at;
    double* lies;
    double* grows;

    Backlog(const Plan& p, double* record) : at(record + p.coming), lies(at + comings(p)), grows(lies + comings(p)) {}
};

// Fills it: each message comes from `left` on for as long as the port takes for it.
inline void pile_up(const Plan& p, double* record, std::vector<std::pair<double, double>>& changes) {
    std::sort(changes.begin(), changes.end());
    const Backlog out(p, record);
    double lies = 0, flows = 0, before = -kInf;
    int n = 0;
    for (const auto& [at, change] : changes) {
        if (n > 0) lies = std::max(lies + (flows - 1) * (at - before), 0.0);
        flows += change;
        before = at;
        out.at[n] = at;
        out.lies[n] = lies;
        out.grows[n++] = flows - 1;
    }
    std::fill(out.at + n, out.at + comings(p), kInf);
}

// How long something waits that comes to a rank's port at an absolute time, for a message of class c.
inline double behind(const Plan& p, const double* record, std::int32_t c, double at) {
    const Backlog in(p, const_cast<double*>(record));
    const std::ptrdiff_t n = std::upper_bound(in.at, in.at + comings(p), at) - in.at;
    if (n == 0) return 0.0;
    const double lies = in.lies[n - 1] + in.grows[n - 1] * (at - in.at[n - 1]);
    return lies > 0 ? std::min(lies, p.backlog[c]) : 0.0;
}

}  // namespace
}  // namespace pready
