// One CPU per rank: it issues the rank's messages, and between two of them it answers who has asked for a go-ahead by then.
// When its threads have met, it answers whoever asks.
#pragma once

#include <algorithm>
#include <vector>

#include "exchange.hpp"

namespace pready {
namespace {

// Where a record has when each message asks, as a round leaves it: by direction, then in the order of issue.
inline int asked_of(const Plan& p, int round) {
    return p.port + round % 2 * port_size(p) + 1 + 2 * p.transports * p.directions;
}

// Where it has when each transport partition queues for the VCI, in order; when each message is issued, in that order;
// and, arranged as when they ask, when each is answered, which its receiver says.
inline int turns_of(const Plan& p) { return p.cpu; }
inline int issued_of(const Plan& p) { return turns_of(p) + p.transports; }
inline int answered_of(const Plan& p) { return issued_of(p) + p.transports * p.directions; }

struct Request {
    double tick;  // whole picoseconds; of equals those of the first source, in its order
    double at;
    double* answered;
    std::int32_t kind;

    bool operator<(const Request& other) const { return tick < other.tick; }
};

class Cpu {
   public:
    explicit Cpu(const std::vector<Request>& requests) : next_(requests.begin()), end_(requests.end()) {}

    // An exchange of the rank with this record.
    void run(const Plan& p, double* record, std::int32_t profile) {
        const double posted = ticks(record[kStart]);
        while (next_ != end_ && next_->tick < posted) *next_++->answered = record[kStart];  // as it posts its receives
        send(p, record, profile);
        now_ = std::max(now_, record[kJoin]);
        for (answer(p); next_ != end_; answer(p)) now_ = std::max(now_, next_->at);
    }

   private:
    // All that has asked by now, and meanwhile.
    void answer(const Plan& p) {
        for (; next_ != end_ && next_->tick <= ticks(now_); ++next_) {
            now_ += p.answer[next_->kind];
            *next_->answered = now_;
        }
    }

    void send(const Plan& p, double* record, std::int32_t profile) {
        const std::int64_t first = std::int64_t{profile} * p.directions;
        const double* holds = p.hold + first;
        const double found_taken = p.hold_behind[profile] - holds[p.directions - 1];  // one VCI
        const double* turns = record + turns_of(p);
        double* issued = record + issued_of(p);
        for (int t = 0; t < p.transports; ++t) {
            now_ = std::max(turns[t], now_ + found_taken);
            for (int d = 0; d < p.directions; ++d, ++issued) {
                if (p.present[first + d]) {
                    answer(p);
                    now_ += holds[d] - (d > 0 ? holds[d - 1] : 0.0);
                }
                *issued = now_;
            }
            if (p.degree[profile] > 0) answer(p);
        }
    }

    std::vector<Request>::const_iterator next_, end_;
    double now_ = -kInf;
};

}  // namespace
}  // namespace pready
