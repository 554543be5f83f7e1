// One exchange of one rank, in seven steps. Each is a shift, a FIFO, end_i = max(arrival_i, end_(i-1)) + service_i, or a
// port that is shared, so that no event queue is needed: docs/theory/engine.md says why, under the same names.
//
//   ready     when jobs may queue for their VCIs
//   issue     a VCI's lock, job after job
//   protocol  eager, or when a receiver answers
//   NIC       the rank's port, and an adapter that ranks of a node share
//   wire      latency and the last byte; sends are complete
//   receive   the receiver's port, and the threads that receive
//   finish    epochs close, threads meet, ranks go on
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "arrivals.hpp"
#include "plan.hpp"

namespace pready {

// One rank in one exchange; absolute seconds but for `early`.
struct Rank {
    double start;
    double first, ready;  // its first and its last partition are ready
    double join;          // its threads have met
    double issued, done;  // all that it sends; its sends are complete
    double notify;        // its epoch is closed, and its targets know
    double nic = kNever;  // its port is free again
    double early;         // messages that arrive before the join
    double received;      // the last message
    double told;          // and what follows, but for work on what came
    double end = 0;
};
constexpr std::array kRankFields{"start", "first",  "ready", "join",     "issued", "done",
                                 "notify", "nic", "early", "received", "told",   "end"};
static_assert(sizeof(Rank) == kRankFields.size() * sizeof(double));

// One message at every step, and which operand was the last in each of them.
struct Trace {
    double ready, issued, goes, left, arrived, received;
    std::int16_t job, vci;
    std::int8_t won[4];  // in issue, protocol, NIC and receive: a `Won`
};
// What a step waited for: the step before it; the lock, port or thread that was busy; the peer; the node's adapter.
enum Won : std::int8_t { kBefore = 0, kBusy = 1, kPeer = 2, kAdapter = 3 };

// A time, not negative, and what it is of. Equal times are served by number.
struct Item {
    double key;
    Index number;

    std::int64_t bits() const { return std::bit_cast<std::int64_t>(key); }  // in the same order, faster to compare
};
inline bool before(const Item& a, const Item& b) {
    return (a.bits() < b.bits()) | ((a.bits() == b.bits()) & (a.number < b.number));
}

// Two runs that are sorted, without a branch, which the processor would guess wrong every other time.
inline void merge(const Item* a, const Item* const middle, const Item* const end, Item* out) {
    const Item* b = middle;
    while (a != middle && b != end) {
        const bool second = before(*b, *a);
        *out++ = second ? *b : *a;
        b += second;
        a += !second;
    }
    std::copy(b, end, std::copy(a, middle, out));
}

// By value, as a reference to one of two keeps both in memory.
inline double later(double a, double b) { return a > b ? a : b; }
inline double sooner(double a, double b) { return a < b ? a : b; }

// Brings items into order: few by insertion; of many, runs that are sorted already are merged, two by two.
inline void merge_runs(std::vector<Item>& items, std::vector<Item>& room, std::vector<std::size_t>& ends) {
    constexpr std::size_t kFew = 12;
    const std::size_t n = items.size();
    for (std::size_t i = 1; n <= kFew && i < n; ++i) {
        const Item item = items[i];
        std::size_t at = i;
        for (; at > 0 && before(item, items[at - 1]); --at) items[at] = items[at - 1];
        items[at] = item;
    }
    if (n <= kFew) return;
    ends.clear();
    for (std::size_t i = 1; i < n; ++i) {
        if (before(items[i], items[i - 1])) ends.push_back(i);
    }
    if (ends.empty()) return;
    ends.push_back(n);
    room.resize(n);
    while (ends.size() > 1) {
        std::size_t begin = 0, kept = 0;
        for (std::size_t r = 0; r < ends.size(); r += 2) {
            const std::size_t middle = ends[r], end = r + 1 < ends.size() ? ends[r + 1] : middle;
            merge(items.data() + begin, items.data() + middle, items.data() + end, room.data() + begin);
            ends[kept++] = begin = end;
        }
        ends.resize(kept);
        items.swap(room);
    }
}

// The largest of some times, and the smallest: four at a time, as one waits for the one before.
template <class Better>
inline double best(std::span<const double> of, Better better) {
    double x[4] = {of[0], of[0], of[0], of[0]};
    std::size_t i = 0;
    for (; i + 4 <= of.size(); i += 4) {
        for (std::size_t l = 0; l < 4; ++l) x[l] = better(x[l], of[i + l]);
    }
    for (; i < of.size(); ++i) x[0] = better(x[0], of[i]);
    return better(better(x[0], x[1]), better(x[2], x[3]));
}
inline double latest(std::span<const double> of) { return best(of, later); }
inline double earliest(std::span<const double> of) { return best(of, sooner); }

// A message as it comes to a port.
struct Coming {
    double gap, service;  // until the next one may come; of the port alone
    const Kind* kind;
    std::size_t flow, number;
};

// A port that flows share evenly (processor sharing, Kleinrock 1967, https://doi.org/10.1145/321386.321388): messages come
// to it g apart at least; from then on every flow with a message at hand is served at the same rate, its messages in
// order, and the port is never idle meanwhile. In virtual time, which passes at 1/(flows at hand), a message takes its
// service.
class SharedPort {
   public:
    // Serves messages `coming(0)` to `coming(count - 1)` of so many flows, from the times `at(n)` on, at a port that is busy
    // until `free`. Returns when the last is through; `through(number, kind, begun, end)` is told of each.
    template <class At, class Comes, class Through>
    double serve(std::size_t flows, std::size_t count, double free, const At& at, const Comes& coming,
                 const Through& through) {
        while (last_of_.size() < flows) {
            last_of_.push_back(kNone);
            shares_.push_back(1 / static_cast<double>(last_of_.size()));
        }
        if (messages_.size() < count) {
            messages_.resize(count);
            heads_.resize(count);
        }
        Index* const last_of = last_of_.data();
        const double* const shares = shares_.data();
        Message* const messages = messages_.data();
        Head* const heads = heads_.data();
        std::size_t first = 0, end = 0, n = 0;  // heads at hand; messages that have come
        // Virtual time was `elapsed` at `since`, when the number of flows last changed; the first head is through when due.
        double now = free, since = free, elapsed = 0, due = kInf;
        double next = count > 0 ? at(0) : kInf;  // when another message comes
        for (;;) {
            double from;   // in virtual time
            Index begins;  // a message that is its flow's first from now on
            if (first < end && due <= next) {
                const Head head = heads[first++];
                const Message& m = messages[head.message];
                now = due;
                from = head.until;
                through(m.number, *m.kind, m.begun, now);
                begins = m.next;
                if (begins == kNone) last_of[m.flow] = kNone;
                if (first == end) from = 0;
                if (first == end || begins == kNone) {
                    since = now;
                    elapsed = from;
                }
            } else if (n == count) {
                return now;
            } else {
                const Coming m = coming(n);
                const double came = next;
                begins = static_cast<Index>(n++);
                next = n < count ? later(at(n), came + m.gap) : kInf;
                if (first == end) {
                    since = now = later(now, came);
                    elapsed = 0;
                    if (now + m.service <= next) {  // through before another comes
                        through(m.number, *m.kind, since, now += m.service);
                        continue;
                    }
                }
                messages[begins] = {m.kind, m.service, 0, m.number, static_cast<Index>(m.flow), kNone};
                if (const Index last = std::exchange(last_of[m.flow], begins); last != kNone) {
                    messages[last].next = begins;
                    continue;
                }
                if (first < end) {
                    now = later(now, came);
                    elapsed += (now - since) * shares[end - first - 1];
                    since = now;
                }
                from = elapsed;
            }
            if (begins != kNone) {
                Message& m = messages[begins];
                m.begun = now;
                const double until = from + m.service;
                std::size_t place = end++;
                for (; place > first && heads[place - 1].until > until; --place) heads[place] = heads[place - 1];
                heads[place] = {until, begins};
            }
            if (first < end) due = since + (heads[first].until - elapsed) * static_cast<double>(end - first);
        }
    }

   private:
    static constexpr Index kNone = -1;

    struct Message {
        const Kind* kind;
        double service, begun;
        std::size_t number;
        Index flow, next;  // the next one of its flow
    };
    struct Head {
        double until;  // in virtual time
        Index message;
    };

    std::vector<Index> last_of_;  // the last message of each flow with one at hand
    std::vector<double> shares_;  // of the port, of each of so many flows and one more
    std::vector<Message> messages_;
    std::vector<Head> heads_;  // of each flow, the message at hand, in the order in which they are through
};

// Whole picoseconds: rounding alone must not decide an order. Messages' times end in tenths or halves of one, such as
// 50000 B at 81.30081 ps/B; intervals begin where no such time is. They count from 0x1.8p52 before zero, so that numbers
// are whole and none is negative.
inline double ticks(double time) { return (time * 1e12 + 0.1234567) + 0x1.8p52; }

// Ranks, and what they keep from one exchange to the next.
struct State {
    std::vector<Rank> ranks;
    std::vector<double> adapter;  // of each node: when it is free
    std::vector<double> port;     // of each rank that receives more than its senders send: when it has received all of it
};

// Does a rank receive more than one of its senders sends, so that its port and not theirs is the last to be free?
inline bool port_holds_up(const Plan& p, const Costs& c) {
    const Pattern& of = p.pattern;
    if (of.ordered() || of.alone > 0 || of.sources < 2) return false;
    const Neighbours& table = of.tables[0];
    const auto ranks = static_cast<std::size_t>(of.ranks), directions = static_cast<std::size_t>(of.directions);
    std::vector<double> sent(ranks), received(ranks);
    const auto each = [&](const auto& of_message) {
        for (std::size_t n = 0; n < ranks * directions; ++n) {
            const auto kind = static_cast<std::size_t>(of.kind[static_cast<std::size_t>(of.profile[n / directions]) * directions + n % directions]);
            if (table.to[n] >= 0 && !p.protocols[kind].inside) of_message(n / directions, static_cast<std::size_t>(table.to[n]), c.kinds[kind].busy);
        }
    };
    each([&](std::size_t from, std::size_t to, double busy) { sent[from] += busy, received[to] += busy; });
    bool holds = false;
    each([&](std::size_t from, std::size_t to, double) { holds = holds || received[to] > sent[from] * (1 + 1e-9); });
    return holds;
}

// From when until when; what follows the last of a list never begins.
struct Span {
    double begin, end;
};

// What ranks send in one exchange. Messages stand by rank and direction, and there as they leave.
struct Sent {
    std::vector<double> starts, in_mpi;  // [ranks][jobs], [ranks][groups]: after the rank's start, see `Steps::ready`
    std::vector<Span> sending;           // [ranks][spans]: likewise, when the lock of each VCI is held to send, in order
    std::vector<double> left;            // [ranks][directions][transports]: from when on it could have streamed alone
    std::vector<double> begun;           // likewise, its first byte, where ports are shared
    std::vector<std::uint16_t> vci;      // likewise, where threads receive by VCI
    std::vector<Index> leaving;          // [ranks][1 + messages]: how many leave the node, and which, in order
    std::vector<Trace> traces;           // as `left`, if they are asked for

    Sent(const Plan& p, bool traced) {
        const auto ranks = static_cast<std::size_t>(p.pattern.ranks), n = static_cast<std::size_t>(p.sent());
        starts.resize(ranks * static_cast<std::size_t>(p.jobs()));
        in_mpi.resize(ranks * static_cast<std::size_t>(p.groups()));
        if (p.takes_turns()) sending.resize(ranks * p.spans());
        left.resize(ranks * n);
        if (p.shares()) begun.resize(ranks * n);
        if (p.by_vci()) vci.resize(ranks * n);
        if (p.pattern.nodes() > 0) leaving.resize(ranks * (n + 1));
        if (traced) traces.resize(ranks * n);
    }
};

// A destination of a rank's messages.
struct Way {
    Index direction, to;
    std::size_t flow = 0;  // messages to the same rank are one
    std::size_t first;  // its place in `Sent`, of a rank's own
    const Kind* kind;
    const Protocol* protocol;
    std::size_t next = 0;  // the place of the next message that leaves
    double receive = 0;  // to receive one message
    double posted = 0;   // the destination posts its receives, after the sender's start
};

// A message, as it is issued.
struct Send {
    double goes;  // the protocol lets its payload go
    Way* way;
    Index vci;
};

// A source of messages: the first of them, which leave in order.
struct Source {
    Index direction, from;
    std::size_t flow;  // messages of the same rank are one
    std::size_t first;
    const Kind* kind;
    bool inside;
    bool shares = false;    // they go through the receiver's port, which others share
    double service = 0;     // CPU time of each
    double port = 0;        // of the receiver's port
    std::size_t since = 0;  // the first that matters
};

struct Received {
    double end = kNever;      // of everything, epochs closed
    double message = kNever;  // the last message
    double arrival = kNever, left = kNever, issued = kNever, ready = kNever, notify = kNever;  // the latest of each
    std::size_t sources = 0;
};

// Sums over ranks, in the order of `kSumFields`.
enum Sum : int { kDuration, kCompute, kLate, kIssue, kNicTime, kWire, kReceive, kSpread, kToJoin, kEarly, kConsume, kSums };
constexpr std::array kSumFields{"lasts", "computing", "late", "issue", "nic", "wire", "receive", "spread", "to_join", "early", "consuming"};
static_assert(kSumFields.size() == kSums);
struct Sums {
    std::array<double, kSums> of{};
    double shortest = kInf, longest = kNever, first_end = kInf, last_end = kNever;

    void add(const std::array<double, kSums>& more) {
        for (std::size_t i = 0; i < of.size(); ++i) of[i] += more[i];
    }
    void take(double took, double end) { widen({{}, took, took, end, end}); }
    void widen(const Sums& by) {
        shortest = sooner(shortest, by.shortest);
        longest = later(longest, by.longest);
        first_end = sooner(first_end, by.first_end);
        last_end = later(last_end, by.last_end);
    }
};

// Where a rank's time went from some instant to the end: five parts that add up.
struct Causes {
    double late, issue, nic, wire, receive;

    Causes(const Received& r, double from, double end) {
        const double arrival = later(from, sooner(r.arrival, end)), left = later(from, sooner(r.left, arrival));
        const double issued = later(from, sooner(r.issued, left)), ready = later(from, sooner(r.ready, issued));
        late = ready - from;
        issue = issued - ready;
        nic = left - issued;
        wire = arrival - left;
        receive = end - arrival;
    }
};

// The steps of one exchange, and memory of one worker for them. Within a rank times count from its start.
class Steps {
   public:
    Steps(const Plan& plan, const Costs& costs, const Arrivals& arrivals, std::int64_t first, State& state, Sent& sent)
        : p(plan), c(costs), arrivals_(arrivals), kept_(arrivals.kept()), first_(first), state_(state), sent_(sent),
          looks_(plan.looks()), holds_up_(port_holds_up(plan, costs)), gated_(plan.interface.two_sided || plan.asks()),
          as_issued_(!gated_ && !plan.interface.granted && plan.vcis() == 1 && !plan.messages.mapped && !plan.interface.one_by_one && sent.leaving.empty() && sent.traces.empty()),
          directions_(static_cast<std::size_t>(plan.pattern.directions)),
          transports_(static_cast<std::size_t>(plan.messages.transports)), times_(arrivals.room()), changed_(2 * arrivals.room()),
          way_to_(directions_), floors_(static_cast<std::size_t>(plan.groups())),
          served_(static_cast<std::size_t>(plan.vcis())), spans_(served_.size()) {
        const std::size_t most = transports_ * std::max(directions_, static_cast<std::size_t>(plan.pattern.sources));
        sends_.resize(most);
        received_.resize(most);
        if (!sent.traces.empty()) noted_.resize(most);
        most_.resize(directions_);
        if (c.kinds[0].port > 0) behind_ = std::ceil(c.kinds[0].alone / c.kinds[0].port);
        for (std::size_t n = 0; n < most; ++n) places_.push_back({static_cast<std::uint32_t>(n / transports_), static_cast<std::uint32_t>(n % transports_)});
        for (const std::vector<Index>& jobs : plan.messages.vcis) {
            for (std::size_t d = 0; d < directions_; ++d) {
                const auto here = [&](Index job) { return !plan.messages.mapped || static_cast<std::size_t>(job) % directions_ == d; };
                of_vci_.push_back(static_cast<double>(std::count_if(jobs.begin(), jobs.end(), here)));
                most_[d] = plan.by_vci() ? later(most_[d], of_vci_.back()) : static_cast<double>(transports_);
            }
        }
    }

    // 1. Ready. A job is ready when the last of its partitions is. A rank that computes is in MPI once its threads have
    // joined; where each completes its own messages, once the first of them is through: for all VCIs, or for its own.
    void ready(std::int64_t rank, std::int64_t iteration) {
        const std::int64_t alone = p.pattern.alone;
        const double* times = alone > 0 ? arrivals_.at(*kept_, rank / alone, first_ + rank % alone, times_.data())
                                        : arrivals_.at(*kept_, rank, first_ + iteration, times_.data());
        const auto partitions = static_cast<std::size_t>(arrivals_.partitions());
        const double slower = p.setting.slower, boundary = p.setting.boundary;
        const double first = slower * earliest({times, partitions}), last = slower * latest({times, partitions});
        // Threads compute what is sent and pack it, each its own; the interior follows, behind a barrier if one sends all.
        const double *ready = times, *ends = times;
        double joined = last + c.team.barrier, meet = joined;
        if (!p.as_drawn()) {
            double *const own = changed_.data(), *const through = own + partitions;
            const bool waits = p.interface.joins && boundary < 1;
            for (std::size_t i = 0; i < partitions; ++i)
                own[i] = boundary * slower * times[i] + (p.messages.packing.empty() ? 0 : p.messages.packing[i]);
            joined = latest({own, partitions}) + c.team.barrier;
            for (std::size_t i = 0; i < partitions; ++i) through[i] = (waits ? joined : own[i]) + (1 - boundary) * slower * times[i];
            meet = latest({through, partitions}) + c.team.barrier;
            ready = own, ends = through;
        }
        Rank& r = of(rank);
        r.first = r.start + first;
        r.ready = r.start + last;
        r.join = r.start + meet;
        double* starts = starts_of(rank);
        for (const std::vector<Index>& needs : p.messages.needs) {
            double at = ready[needs[0]];
            if (!p.messages.mapped) at = latest({ready + needs[0], needs.size()});  // partitions in a row
            for (std::size_t i = 1; p.messages.mapped && i < needs.size(); ++i) at = later(at, ready[needs[i]]);
            *starts++ = p.interface.joins ? joined : at;
        }
        double* enters = in_mpi_of(rank);
        const auto theta = static_cast<std::size_t>(p.setting.theta);
        for (const std::vector<Index>& threads : p.messages.serving) {
            *enters = p.interface.own_threads ? kInf : meet;
            for (const Index t : threads) *enters = sooner(*enters, latest({(p.interface.tests ? ready : ends) + static_cast<std::size_t>(t) * theta, theta}));
            ++enters;
        }
    }

    // The same of a rank of a tree that sends on what it receives: one thread receives all, or each VCI's its own, and
    // where MPI tells of the whole only, nothing is known before the last. `join` is when the root's threads meet.
    void relay(std::int64_t rank, double join) {
        Rank& r = of(rank);
        const Source& from = sources_[0];
        double* starts = starts_of(rank);
        std::vector<double> free(served_.size(), 0.0);
        std::vector<std::size_t> taken(served_.size(), 0);
        double first = kInf, last = kNever;
        for (std::size_t i = 0; i < transports_; ++i) {
            const std::size_t v = p.by_vci() ? sent_.vci[from.first + i] : 0;
            const double arrives = sent_.left[from.first + i] + from.kind->travel() - r.start;
            const double at = free[v] = later(arrives, free[v]) + receiving(*from.kind, 1);
            starts[p.messages.vcis[v][taken[v]++]] = at;
            first = sooner(first, at);
            last = later(last, at);
        }
        if (!p.interface.tells) std::fill_n(starts, p.jobs(), first = last);
        r.first = r.start + first;
        r.ready = r.start + last;
        r.join = join;
    }

    // Steps 2 to 4 of what a rank sends, `relays`: on receipt; without adapters that ranks share, 5, too.
    void send(std::int64_t rank, const Neighbours& table, bool relays = false) {
        find_ways(rank, table, relays);
        issue(rank, relays);
        nic(rank);
        if (p.pattern.nodes() == 0 && !holds_up_) wire(rank);
    }

    // 2. Issue. A job takes its VCI's lock, in order, and holds it while it issues its messages. A job that waits for the
    // lock pays for that with each of its messages. Where a thread is in MPI meanwhile, it first receives what has come: of
    // peers that send as this rank does. A relay receives as many as it has sent.
    void issue(std::int64_t rank, bool relays) {
        Rank& r = of(rank);
        const double* starts = starts_of(rank);
        const double opened = opens(), join = r.join - r.start;
        const bool contends = !relays || p.interface.own_threads, mapped = p.messages.mapped, traced = !noted_.empty();
        const bool granted = p.interface.granted, one_by_one = p.interface.one_by_one;
        // Each message goes as it is issued, in the order of issue, too, if that is the order in which they leave.
        const bool simple = !gated_ && !granted && !one_by_one && !traced, as_issued = as_issued_;
        const bool receives = !relays && p.receives_between(), turns = !relays && p.takes_turns();
        double issued = kNever, last = kNever, free_port = r.nic - r.start;
        Span* spans = turns ? sending_of(rank) : nullptr;
        if (turns) std::fill_n(spans, p.spans(), Span{kInf, kInf});
        items_.resize(sends_.size());
        Item* item = items_.data();
        Send* const sends = sends_.data();
        std::size_t next = 0;
        for (std::size_t v = 0; v < p.messages.vcis.size(); ++v) {
            queue_.clear();
            for (const Index job : p.messages.vcis[v]) {
                const double at = later(starts[job], opened);
                queue_.push_back({p.interface.deferred ? later(at, join) : at, job});
            }
            merge_runs(queue_, room_, ends_);
            const double contention = contends ? c.contention[v] : 0.0;
            double free = kNever, port = kNever;
            std::size_t left = queue_.size(), next_coming = 0, span = 0;
            coming_.clear();
            for (const Item& job : queue_) {
                const std::span<Way> targets = targets_of(job.number);
                const bool more = --left > 0;  // jobs behind it
                if (mapped && targets.empty()) continue;
                for (const double due = ticks(later(free, job.key)); next_coming < coming_.size(); ++next_coming) {
                    const Expected& m = coming_[next_coming];
                    if (ticks(m.at) > due) break;
                    free = later(free, m.at) + m.receive;
                }
                const double taken = free + static_cast<double>(targets.size()) * contention;
                double at = later(job.key, taken), held = 0, between = 0;
                if (turns) {
                    const double begin = taken > job.key ? free : job.key;
                    if (span == 0 || begin > spans[span - 1].end) spans[span++].begin = begin;
                }
                free = at;
                for (Way& w : targets) {
                    at += w.kind->hold;
                    if (relays) between += w.receive;
                    const std::size_t n = mapped ? static_cast<std::size_t>(job.number) : next++;
                    Send& send = sends[n] = {at, &w, static_cast<Index>(v)};
                    if (simple) {
                        if (!as_issued) *item++ = {at, static_cast<Index>(n)};
                        if (receives && more) comes(w, at, port);
                        continue;
                    }
                    held += w.kind->hold;
                    const double mine = granted ? later(at, w.posted + c.team.control + held) : at;
                    const double goes = send.goes = gated_ ? protocol(rank, w, mine, v) : mine;
                    *item++ = {goes, static_cast<Index>(n)};
                    free = later(free, mine);
                    last = later(last, goes);
                    if (receives && more) comes(w, goes, port);
                    if (traced) {
                        const Won lock = mine > at ? kPeer : taken > job.key ? kBusy : kBefore;
                        const Won peer = goes > mine + 2 * w.kind->half ? kPeer : kBefore;
                        noted_[n] = {job.key, mine, goes, 0, 0, 0, static_cast<std::int16_t>(job.number),
                                     static_cast<std::int16_t>(v), {lock, peer, kBefore, kBefore}};
                    }
                    if (!one_by_one) continue;  // else the call returns when the send is complete
                    const double left = later(goes, free_port);
                    free_port = left + w.kind->busy;
                    at = w.protocol->leaves ? later(goes, left + w.kind->stream) : goes;
                }
                if (simple) last = later(last, free = at);
                issued = later(issued, free);
                if (turns) spans[span - 1].end = free;
                free += between;
            }
            if (turns) spans += p.messages.vcis[v].size() + 1;
        }
        // One thread receives all, once it is in MPI, and not before all VCIs have sent.
        if (turns && !p.by_vci() && p.vcis() > 1) {
            sending_of(rank)[0] = {kNever, issued};
            sending_of(rank)[1].begin = kInf;
        }
        items_.resize(as_issued ? next : static_cast<std::size_t>(item - items_.data()));
        r.issued = r.start + issued;
        if (p.setting.boundary < 1) r.join = later(r.join, r.issued + (1 - p.setting.boundary) * (r.ready - r.start) + c.team.barrier);
        r.done = r.start + later(issued, last);
    }

    // When a message of a peer comes that sends as this rank does, by the same port.
    void comes(const Way& w, double goes, double& port) {
        const double leaves = later(goes, port);
        port = leaves + w.kind->busy;
        coming_.push_back({leaves + w.kind->travel(), w.receive});
    }

    // 3. Protocol. A rendezvous asks (RTS) and is answered (CTS), half a handshake each: as the receiver posts its
    // receives, and from then on at once or in MPI.
    double protocol(std::int64_t rank, const Way& w, double issued, std::size_t vci) const {
        if (p.interface.two_sided) return later(issued, w.posted + w.kind->wire);
        if (!w.protocol->asks) return issued;
        const double asked = issued + w.kind->half;
        double answered = later(asked, w.posted);
        if (w.protocol->in_mpi && asked >= w.posted)
            answered = later(asked, w.posted + in_mpi_of(w.to)[p.group_of(static_cast<int>(vci))]);
        const double goes = answered + w.kind->half;
        return w.protocol->sender ? later(goes, in_mpi_of(rank)[p.group_of(static_cast<int>(vci))]) : goes;
    }

    // 4. NIC. Messages to one destination leave the rank's port in order, g + G_link m apart; destinations share it evenly.
    void nic(std::int64_t rank) {
        if (!as_issued_) line_up();
        Rank& r = of(rank);
        const double start = r.start;
        const std::size_t first = first_of(rank);
        Index* const leaving = sent_.leaving.empty() ? nullptr : leaving_of(rank);
        if (leaving) *leaving = 0;
        for (Way& w : ways_) w.next = w.first;
        double *const left = sent_.left.data() + first, *const begins = sent_.begun.empty() ? nullptr : sent_.begun.data() + first;
        std::uint16_t* const vci = sent_.vci.empty() ? nullptr : sent_.vci.data() + first;
        Trace* const traces = noted_.empty() ? nullptr : sent_.traces.data() + first;
        const Item* const items = items_.data();
        const Send* const sends = sends_.data();
        const bool as_issued = as_issued_;
        const auto number = [=](std::size_t nth) { return as_issued ? nth : static_cast<std::size_t>(items[nth].number); };
        const auto at = [=](std::size_t nth) { return sends[number(nth)].goes; };
        const auto coming = [=, this](std::size_t nth) -> Coming {
            const std::size_t n = number(nth);
            const Send& send = sends[n];
            Way& w = *send.way;
            const std::size_t place = w.next++;
            if (vci) vci[place] = static_cast<std::uint16_t>(send.vci);
            if (leaving && !w.protocol->inside) leaving[++*leaving] = static_cast<Index>(place);
            if (traces) traces[place] = noted_[n];
            return {w.kind->gap, w.kind->busy, w.kind, w.flow, place};
        };
        // From when on each message could have streamed alone to be through then.
        const auto departs = [=](std::size_t place, const Kind& kind, double begun, double end) {
            const double alone = later(begun, end - kind.alone);
            left[place] = start + alone;
            if (begins) begins[place] = start + begun;
            if (!traces) return;
            Trace& t = traces[place];
            t.won[2] = alone > t.goes ? kBusy : kBefore;
            for (double* time : {&t.ready, &t.issued, &t.goes}) *time += start;
        };
        r.nic = start + port_.serve(flows(), items_.size(), r.nic - start, at, coming, departs);
    }

    // What leaves a node goes on through its adapter, which its ranks share evenly.
    void adapter(std::int64_t node, const Neighbours& table) {
        const std::span<const std::int64_t> ranks(p.pattern.node_rank.data() + p.pattern.node_start[static_cast<std::size_t>(node)],
                                                  p.pattern.node_rank.data() + p.pattern.node_start[static_cast<std::size_t>(node) + 1]);
        items_.clear();
        leaves_.clear();
        for (std::size_t flow = 0; flow < ranks.size(); ++flow) {
            const Index* leaving = leaving_of(ranks[flow]);
            double latest = kNever;
            for (Index i = 1; i <= *leaving; ++i) {
                const std::size_t at = static_cast<std::size_t>(ranks[flow] * p.sent()) + static_cast<std::size_t>(leaving[i]);
                latest = later(latest, ticks(sent_.begun[at]));
                items_.push_back({latest, static_cast<Index>(leaves_.size())});
                leaves_.push_back({at, flow, &kind_of(ranks[flow], leaving[i] / p.messages.transports)});
            }
        }
        merge_runs(items_, room_, ends_);
        const auto leaves = [this](std::size_t number, const Kind& kind, double begun, double end) {
            const std::size_t at = leaves_[number].at;
            const double through = later(begun, end - later(kind.shared, kind.alone));
            if (!noted_.empty() && through > sent_.left[at]) sent_.traces[at].won[2] = kAdapter;
            sent_.begun[at] = begun;
            sent_.left[at] = later(sent_.left[at], through);
        };
        double& free = state_.adapter[static_cast<std::size_t>(node)];
        const auto coming = [this](std::size_t nth) -> Coming {
            const auto n = static_cast<std::size_t>(items_[nth].number);
            const auto& [place, flow, kind] = leaves_[n];
            return {0, kind->shared, kind, flow, n};
        };
        const auto at = [this](std::size_t nth) { return sent_.begun[leaves_[static_cast<std::size_t>(items_[nth].number)].at]; };
        free = port_.serve(ranks.size(), items_.size(), free, at, coming, leaves);
        for (const std::int64_t rank : ranks) if (!holds_up_) land(rank, table);
    }

    // Where ports hold up senders: what comes to a rank goes through its port, behind what came in the exchange before. A
    // message that has left when it could have streamed alone to be through leaves then.
    void pass_port(std::int64_t rank, const Neighbours& table) {
        if (find_sources(rank, table).sources == 0) return;
        for (Source& s : sources_) s.shares = !s.inside;
        const double start = of(rank).start;
        come(kInf, start);
        double* const left = sent_.left.data();
        const double* const begun = sent_.begun.data();
        const auto place = [this](Index n) { return sources_[places_[n].source].first + places_[n].message; };
        std::erase_if(items_, [this](const Item& item) { return sources_[places_[item.number].source].inside; });
        const auto at = [&](std::size_t nth) { return begun[place(items_[nth].number)]; };
        const auto coming = [&](std::size_t nth) -> Coming {
            const Source& s = sources_[places_[items_[nth].number].source];
            return {s.kind->gap, s.kind->port, s.kind, s.flow, place(items_[nth].number)};
        };
        const auto through = [&](std::size_t n, const Kind& kind, double, double end) {
            const double alone = end - kind.alone;
            if (!noted_.empty() && alone > left[n]) sent_.traces[n].won[2] = kPeer;
            left[n] = later(left[n], alone);
        };
        double& free = state_.port[static_cast<std::size_t>(rank)];
        free = port_.serve(sources_.size(), items_.size(), free, at, coming, through);
    }

    // Step 5 of a rank whose messages have left by other ports than its own.
    void land(std::int64_t rank, const Neighbours& table) {
        find_ways(rank, table, false);
        wire(rank);
    }

    // 5. Wire. G m for the last byte of one message alone, and L. Then sends are complete, and the sender's epoch closes.
    void wire(std::int64_t rank) {
        Rank& r = of(rank);
        const std::size_t begin = static_cast<std::size_t>(rank * p.sent());
        double early = 0, acknowledged = kNever;
        for (const Way& w : ways_) {
            const double* left = sent_.left.data() + begin + w.first;
            const double travel = w.kind->travel(), last = left[transports_ - 1];
            for (std::size_t i = 0; i < transports_; ++i) early += left[i] + travel <= r.join ? 1.0 : 0.0;
            if (w.protocol->leaves) r.done = later(r.done, last + w.kind->stream);
            acknowledged = later(acknowledged, last + travel + w.kind->ack);
            for (std::size_t i = 0; !noted_.empty() && i < transports_; ++i)
                sent_.traces[begin + w.first + i].left = left[i];
        }
        r.early = early;
        r.notify = kNever;
        if (p.interface.sync == Sync::active) {
            const double complete = p.interface.windows_per_thread ? r.issued : later(r.issued + c.team.barrier, r.join);
            r.notify = complete + c.team.control;
            r.done = later(r.done, complete + c.team.closing);
        } else if (p.interface.sync == Sync::passive) {  // a flush waits for acknowledgements, then a message tells
            r.done = later(acknowledged, r.join) + c.team.closing;
            r.notify = r.done + c.team.control;
        }
    }

    // 6. Receive. What comes to `rank`, which receives from `floors` on: through its port, then matched, message by
    // message, by one thread or by each VCI's own. Given what a rank sends that began at `start`, not while it does.
    Received receive(std::int64_t rank, const Neighbours& table, double start = 0, const Span* sending = nullptr) {
        const double floor = *std::min_element(floors_.begin(), floors_.end());
        Received out = find_sources(rank, table);
        if (out.sources == 0) {
            out.end = out.message = floor;
            return out;
        }
        const bool serves = p.interface.receivers != Receivers::none, every = p.setting.consumers > 0 || !noted_.empty();
        double end = certain_ = out.arrival;
        if (serves) end = least(out, start, sending);
        come(every ? kInf : certain_, floor);
        port(floor);
        const Place* const places = places_.data();
        const Source* const sources = sources_.data();
        double *const arrivals = received_.data(), *const busy = served_.data();
        const std::uint16_t* const vci = p.by_vci() ? sent_.vci.data() : nullptr;
        Trace* const traces = noted_.empty() ? nullptr : sent_.traces.data();
        for (const Item& item : items_) {
            const Source& s = sources[places[item.number].source];
            const std::size_t at = s.first + places[item.number].message;
            const double arrived = arrivals[item.number];
            double received = arrived;
            if (serves) {
                const std::size_t server = vci ? vci[at] : 0;
                double& free = busy[server];
                double begins = later(free, arrived);
                if (sending) begins = between(spans_[server], start, begins);
                if (traces) traces[at].won[3] = begins > arrived ? kBusy : kBefore;
                received = free = begins + s.service;
            }
            end = later(end, received);
            if (every) arrivals[item.number] = received;
            if (traces) traces[at].arrived = arrived, traces[at].received = received;
        }
        out.message = out.end = end;
        return out;
    }

    // 7. Finish. A receiver's epoch closes once its data are there, and its peers have said so.
    void close(Received& r) const {
        if (r.sources == 0) return;
        if (p.interface.sync == Sync::passive) r.end += c.kinds[0].ack + c.team.closing + c.team.control;
        if (p.opens()) r.end = later(r.end, r.notify);
        if (p.interface.sync == Sync::active) r.end += c.team.closing;
    }

    // A rank goes on when its receives and its sends are complete, and its threads have met that completed their own.
    void finish(std::int64_t rank, const Neighbours& table, Sums& sums) {
        const std::int64_t receiver = rank + p.pattern.alone;
        Rank &own = of(rank), &theirs = of(receiver);
        for (std::size_t g = 0; g < floors_.size(); ++g) floors_[g] = own.start + (p.waits() ? in_mpi_of(receiver)[g] : 0.0);
        Received r = receive(receiver, table, own.start, p.takes_turns() ? sending_of(rank) : nullptr);
        own.received = r.message;
        close(r);
        r.end += met();
        if (p.setting.computing) r.end = later(r.end, theirs.join);
        const bool sends = p.setting.two_way || p.pattern.alone == 0;
        own.told = later(sends ? later(r.end, own.done + met()) : r.end, own.join);
        own.end = own.told;
        if (p.setting.consumers > 0 && r.sources > 0)
            own.end = consume(own.told, p.pattern.alone > 0 && !p.setting.computing ? own.start : theirs.join);
        theirs.end = own.end;
        const Causes why(r, own.ready, own.told);
        sums.add({own.end - own.start, own.ready - own.start, why.late, why.issue, why.nic, why.wire, why.receive,
                  own.ready - own.first, own.join - own.ready, own.early, own.end - own.told});
        sums.take(own.end - own.start, own.end);
        if (received_ends_) received_ends_[rank] = r.end;
    }

    // A rank of a sweep: it receives in MPI, computes, and sends on.
    void cross(std::int64_t rank, const Neighbours& table, std::int64_t step, Sums& sums) {
        Rank& r = of(rank);
        const double free = r.end;
        std::fill(floors_.begin(), floors_.end(), free);
        Received in = receive(rank, table);
        close(in);
        r.start = later(in.end, free);
        ready(rank, step);
        send(rank, table);
        r.end = later(r.done + met(), r.join);
        const Causes why(in, free, r.start);
        sums.add({0, r.ready - r.start, why.late, why.issue + (r.end - r.ready), why.nic, why.wire, why.receive,
                  r.ready - r.first, r.join - r.ready, r.early, 0});
    }

    // A rank of a tree: it sends on what it receives. Sums are of the rank that is last.
    void pass_on(std::int64_t rank, const Neighbours& table, std::int64_t iteration, Sums& sums) {
        Rank &r = of(rank), &root = of(0);
        r.start = r.end;
        if (rank == 0) {
            ready(0, iteration);
            send(0, table);
            r.end = later(r.done + met(), r.join);
            sums = {};
            sums.add({r.end - r.start, r.ready - r.start, 0, r.end - r.ready, 0, 0, 0, r.ready - r.first, r.join - r.ready, r.early, 0});
            sums.take(r.end - r.start, r.end);
            return;
        }
        std::fill(floors_.begin(), floors_.end(), r.start);
        Received in = receive(rank, table);
        close(in);
        relay(rank, root.join);
        r.end = in.end + met();
        find_ways(rank, table, true);
        if (!ways_.empty()) {
            send(rank, table, true);
            r.end = later(r.end, r.done + met());
            sums.of[kEarly] += r.early;
        }
        const double took = r.end - r.start;
        if (r.end > sums.last_end) {
            const Causes why(in, root.ready, r.end);
            sums.of = {took, sums.of[kCompute], why.late, why.issue, why.nic, why.wire, why.receive,
                       sums.of[kSpread], sums.of[kToJoin], sums.of[kEarly], 0};
            sums.longest = took;
            sums.last_end = r.end;
        }
        sums.shortest = sooner(sums.shortest, took);
        sums.first_end = sooner(sums.first_end, r.end);
    }

    bool holds_up() const { return holds_up_; }

    // Where `finish` notes when each rank has received everything; may be absent.
    void note_received(double* ends) { received_ends_ = ends; }

   private:
    Rank& of(std::int64_t rank) const { return state_.ranks[static_cast<std::size_t>(rank)]; }
    double* starts_of(std::int64_t rank) const { return sent_.starts.data() + rank * p.jobs(); }
    double* in_mpi_of(std::int64_t rank) const { return sent_.in_mpi.data() + rank * p.groups(); }
    Span* sending_of(std::int64_t rank) const { return sent_.sending.data() + static_cast<std::size_t>(rank) * p.spans(); }
    Index* leaving_of(std::int64_t rank) const { return sent_.leaving.data() + rank * (p.sent() + 1); }
    // Threads that have each completed their own messages meet.
    double met() const { return p.interface.own_threads ? c.team.barrier : 0.0; }

    std::size_t first_of(std::int64_t rank) const { return static_cast<std::size_t>(rank * p.sent()); }

    Index class_of(std::int64_t rank, Index direction) const {
        const auto profile = static_cast<std::size_t>(p.pattern.profile[static_cast<std::size_t>(rank)]);
        return p.pattern.kind[profile * directions_ + static_cast<std::size_t>(direction)];
    }
    const Kind& kind_of(std::int64_t rank, Index direction) const {
        return c.kinds[static_cast<std::size_t>(class_of(rank, direction))];
    }

    std::size_t flows() const { return std::max<std::size_t>(ways_.size(), 1); }

    // CPU time to receive one of the messages from so many sources: those of one thread arrive in the order of their
    // receives, of all others' half of what is left is searched.
    double receiving(const Kind& kind, std::size_t sources) const {
        const double queued = static_cast<double>(sources * transports_) / static_cast<double>(p.vcis());
        return kind.receive + c.team.per_entry * (queued - p.messages.in_order) / 2;
    }

    void find_ways(std::int64_t rank, const Neighbours& table, bool relays) {
        const Index profile = p.pattern.profile[static_cast<std::size_t>(rank)];
        const Index* const peer = table.to.data() + static_cast<std::size_t>(rank) * directions_;
        if (!p.pattern.ordered() && p.pattern.distinct && profile == profile_) {  // all but the peers is as before
            if (!looks_) return;
            const double start = of(rank).start;
            for (Way& w : ways_) {
                w.to = peer[w.direction];
                w.posted = of(w.to).end - start;
            }
            return;
        }
        profile_ = profile;
        ways_.clear();
        std::fill(way_to_.begin(), way_to_.end(), -1);
        for (Index d = 0; d < p.pattern.directions; ++d) {
            const Index to = peer[d];
            if (to < 0) continue;
            const auto kind = static_cast<std::size_t>(class_of(rank, d));
            way_to_[static_cast<std::size_t>(d)] = static_cast<Index>(ways_.size());
            ways_.push_back({d, to, flow_to(d, to), static_cast<std::size_t>(d) * transports_, &c.kinds[kind], &p.protocols[kind]});
        }
        const std::size_t peers = ways_.size();
        for (Way& w : ways_) {
            w.receive = relays ? receiving(*w.kind, 1) / static_cast<double>(peers) : receiving(*w.kind, peers);
            if (looks_) w.posted = of(w.to).end - of(rank).start;
        }
    }

    // The first of the ways to the same rank. Exchanges from rest have all their peers in one place, which differ.
    std::size_t flow_to(Index direction, Index to) const {
        if (p.pattern.alone > 0) return static_cast<std::size_t>(direction);
        for (std::size_t w = p.pattern.distinct ? ways_.size() : 0; w < ways_.size(); ++w) {
            if (ways_[w].to == to) return w;
        }
        return ways_.size();
    }

    // Whom a job's messages go to.
    std::span<Way> targets_of(Index job) {
        if (!p.messages.mapped) return ways_;
        const Index way = way_to_[static_cast<std::size_t>(job) % directions_];
        return way < 0 ? std::span<Way>() : std::span<Way>(&ways_[static_cast<std::size_t>(way)], 1);
    }

    // From when on messages may queue: all peers have opened their epochs, or one has sent a clear-to-send.
    double opens() const {
        if (!p.opens() && !p.interface.granted) return kNever;
        double first = kInf, last = kNever;
        for (const Way& w : ways_) first = sooner(first, w.posted), last = later(last, w.posted);
        return (p.interface.granted ? sooner(first, last) : last) + c.team.control;
    }

    // The order in which messages leave: as they may go. What may go in the same picosecond leaves as it was issued.
    void line_up() {
        for (Item& i : items_) i.key = ticks(i.key);
        if (looks_ && !p.messages.mapped) by_destination();
        merge_runs(items_, room_, ends_);
    }

    // Where receivers answer at different times, messages are in order that a VCI sends to one destination.
    void by_destination() {
        std::size_t runs = 1, first = 0;
        for (std::size_t i = 1; i < items_.size(); ++i) runs += items_[i].key < items_[i - 1].key ? 1 : 0;
        if (runs <= p.messages.vcis.size() * ways_.size()) return;
        room_ = items_;
        Item* item = items_.data();
        for (const std::vector<Index>& jobs : p.messages.vcis) {
            const std::size_t end = first + jobs.size() * ways_.size();
            for (std::size_t w = 0; w < ways_.size(); ++w, ++first) {
                for (std::size_t n = first; n < end; n += ways_.size()) *item++ = room_[n];
            }
            first = end;
        }
    }

    // Who sends to a rank, and how far they are.
    Received find_sources(std::int64_t rank, const Neighbours& table) {
        Received out;
        const auto most = static_cast<std::size_t>(p.pattern.sources), begin = static_cast<std::size_t>(rank) * most;
        const bool one_class = c.kinds.size() == 1, distinct = p.pattern.distinct;
        const Index* const senders = table.from.data() + begin;
        const Index* const slots = table.slot.empty() ? nullptr : table.slot.data() + begin;
        const double* const left = sent_.left.data();
        const Rank* const ranks = state_.ranks.data();
        sources_.resize(most);
        Source* const sources = sources_.data();
        for (std::size_t j = 0; j < most; ++j) {
            const Index from = senders[j];
            if (from < 0) continue;
            const Index d = slots ? slots[j] : static_cast<Index>(j);
            const std::size_t kind = one_class ? 0 : static_cast<std::size_t>(class_of(from, d));
            const std::size_t first = first_of(from) + static_cast<std::size_t>(d) * transports_;
            std::size_t flow = distinct ? out.sources : 0;
            while (flow < out.sources && sources[flow].from != from) ++flow;
            sources[out.sources++] = {d, from, flow, first, &c.kinds[kind], p.protocols[kind].inside};
            const Rank& sender = ranks[from];
            const double last = left[first + transports_ - 1];
            out.left = later(out.left, last);
            out.arrival = later(out.arrival, last + c.kinds[kind].travel());
            out.issued = later(out.issued, sender.issued);
            out.ready = later(out.ready, sender.ready);
            out.notify = later(out.notify, sender.notify);
        }
        sources_.resize(out.sources);
        return out;
    }

    // When a thread can receive from `at` on that sends at times, after `start`.
    static double between(const Span*& sending, double start, double at) {
        for (; ticks(sending->begin) <= ticks(at - start); ++sending) at = later(at, start + sending->end);
        return at;
    }

    // When everything is received at the earliest: had all been there from the beginning, or but for the last of each
    // source. Fills `served_` with when each VCI's thread, or the only one, begins, and `certain_`: what has come, and would
    // be received by then, does not decide the end, whatever these threads still send.
    double least(const Received& in, double start, const Span* sending) {
        double all = 0, last = in.arrival, most = kNever, longest = 0;
        for (Source& s : sources_) {
            s.service = receiving(*s.kind, in.sources);
            all += s.service * static_cast<double>(transports_);
            last = later(last, sent_.left[s.first + transports_ - 1] + s.kind->travel() + s.service);
        }
        const bool by_vci = p.by_vci();
        for (std::size_t v = 0; v < (by_vci ? served_.size() : 1); ++v) {
            double floor = by_vci ? floors_[static_cast<std::size_t>(p.group_of(static_cast<int>(v)))] : *std::min_element(floors_.begin(), floors_.end());
            double sends = 0, own = by_vci ? 0 : all;
            if (sending) {
                floor = between(spans_[v] = sending, start, floor);
                for (const Span* s = spans_[v]; s->begin < kInf; ++s) sends += s->end - s->begin;
                sending += p.messages.vcis[v].size() + 1;
            }
            served_[v] = floor;
            longest = later(longest, sends);
            if (by_vci && floor + all + sends <= last) continue;
            for (std::size_t j = 0; by_vci && j < sources_.size(); ++j)
                own += sources_[j].service * of_vci_[v * directions_ + static_cast<std::size_t>(sources_[j].direction)];
            last = later(last, floor + own);
            most = later(most, floor + own + sends);
        }
        certain_ = most <= last ? last - longest : kNever;
        return last;
    }

    // The messages that can be the last to be received, or delay these, in the order in which they come to the port. The
    // last message is received at `least` or later: a message is left out if it, and all that come after it, are received
    // by then. What comes after passes the port, and then a thread receives it, of those alone that its VCI has: what the port does meanwhile
    // counts once, but for messages that pass the port before their thread's next one, and arrive after it.
    void come(double least, double floor) {
        constexpr double kRounding = 1 + 1e-12;
        const bool passes = through_port(), alike = c.kinds.size() == 1 && p.pattern.nodes() == 0;
        double slowest = 0, twice = 0;
        for (Source& s : sources_) {
            s.since = 0;
            s.shares = passes && !s.inside;
            s.port = s.shares ? s.kind->port : 0.0;
            slowest = later(slowest, s.kind->travel());
            if (alike && s.port > 0) twice += sooner(s.port, s.service) * behind_;
        }
        const double* const lefts = sent_.left.data();
        const std::size_t transports = transports_;
        double all = kInf;
        for (int pass = 0; pass < 3 && least < kInf; ++pass) {  // each leaves out less
            const double since = least - (slowest + all * kRounding);
            double one = 0, other = twice;
            for (Source& s : sources_) {
                const double* const left = lefts + s.first;
                std::size_t out = 0;
                for (std::size_t i = 0; i < (pass > 0 ? transports : 0); ++i) out += left[i] <= since ? 1 : 0;
                s.since = out;
                const double n = static_cast<double>(transports_ - s.since);
                const double own = sooner(n, most_[static_cast<std::size_t>(s.direction)]);
                one += n * s.port + own * s.service;
                other += n * s.port + own * later(0.0, s.service - s.port);
            }
            const double before = std::exchange(all, alike ? sooner(one, other) : one);
            if (!(all < before)) break;
        }
        items_.resize(received_.size());
        Item* item = items_.data();
        for (std::size_t j = 0; j < sources_.size(); ++j) {
            const double* left = begins(sources_[j]);
            for (std::size_t i = sources_[j].since; i < transports_; ++i)
                *item++ = {ticks(left[i] - floor), static_cast<Index>(j * transports_ + i)};
        }
        items_.resize(static_cast<std::size_t>(item - items_.data()));
        merge_runs(items_, room_, ends_);
    }

    // Do messages pass the receiver's port now? One sender's are as far apart already, but behind an adapter.
    bool through_port() const { return !holds_up_ && p.shares() && (sources_.size() > 1 || p.pattern.nodes() > 0); }

    // When the messages of a source begin to leave.
    const double* begins(const Source& s) const {
        return (sent_.begun.empty() ? sent_.left.data() : sent_.begun.data()) + s.first;
    }

    // The receiver's port, as slow as the one that messages left by: several senders share it evenly, from each message's
    // first byte on, and none is through it before its last. Then messages arrive: `items_`, in order.
    void port(double floor) {
        arrived_.resize(items_.size());
        Item *const items = items_.data(), *arrived = arrived_.data();
        const Place* const places = places_.data();
        const Source* const sources = sources_.data();
        double* const received = received_.data();
        const double *const left = sent_.left.data(), *const begun = sent_.begun.empty() ? left : sent_.begun.data();
        std::size_t through = 0;
        for (const Item& item : items_) {
            const Place at = places[item.number];
            const Source& s = sources[at.source];
            if (!s.shares) received[item.number] = left[s.first + at.message] + s.kind->travel();
            *(s.shares ? items + through++ : arrived++) = item;
        }
        const auto at = [=](std::size_t nth) {
            const Place place = places[items[nth].number];
            return begun[sources[place.source].first + place.message];
        };
        const auto coming = [=](std::size_t nth) -> Coming {
            const Index n = items[nth].number;
            const Source& s = sources[places[n].source];
            return {s.kind->gap, s.kind->port, s.kind, s.flow, static_cast<std::size_t>(n)};
        };
        const auto comes = [=, &arrived](std::size_t n, const Kind& kind, double, double end) {
            received[n] = later(left[sources[places[n].source].first + places[n].message], end - kind.alone) + kind.travel();
            *arrived++ = {ticks(received[n] - floor), static_cast<Index>(n)};
        };
        port_.serve(sources_.size(), through, kNever, at, coming, comes);
        items_.swap(arrived_);
        if (!through_port() && !holds_up_ && c.kinds.size() == 1) return;  // as they left
        for (std::size_t i = 0; i + through < items_.size(); ++i)
            items_[i].key = ticks(received[items_[i].number] - floor);
        merge_runs(items_, room_, ends_);
    }

    // When a receiver's threads have worked on all user partitions, each as soon as it has come and a thread is free,
    // C_i = max(A_i, the earliest) + w; a pass of tests sees what has come. Where MPI does not tell of each message, all come
    // when they are told.
    double consume(double told, double free) {
        const double released = told + (p.interface.own_threads ? 0.0 : c.team.barrier);
        const double floor = *std::min_element(floors_.begin(), floors_.end());
        for (Item& item : items_) {
            double& at = received_[static_cast<std::size_t>(item.number)];
            at = p.interface.tells ? at + c.team.tested : released;
            item.key = ticks(at - floor);
        }
        merge_runs(items_, room_, ends_);
        threads_.assign(static_cast<std::size_t>(p.setting.consumers), free);
        double end = told;
        for (const Item& item : items_) {
            const auto n = static_cast<std::size_t>(item.number);
            const double work = sources_[places_[n].source].kind->work;
            for (int i = 0; i < p.setting.received_in; ++i) {
                std::pop_heap(threads_.begin(), threads_.end(), std::greater<>());
                threads_.back() = later(threads_.back(), received_[n]) + work;
                end = later(end, threads_.back());
                std::push_heap(threads_.begin(), threads_.end(), std::greater<>());
            }
        }
        return end;
    }

    struct Place { std::uint32_t source, message; };

    // A message that comes at some time, and takes its receiver so long.
    struct Expected {
        double at, receive;
    };

    struct Leaving {
        std::size_t at, flow;
        const Kind* kind;
    };

    const Plan& p;
    const Costs& c;
    const Arrivals& arrivals_;
    const std::shared_ptr<const Arrivals::Kept> kept_;
    const std::int64_t first_;
    State& state_;
    Sent& sent_;
    const bool looks_, holds_up_, gated_, as_issued_;  // sends look at receivers; wait for their ports; go when these answer; leave as they are issued
    const std::size_t directions_, transports_;
    Index profile_ = -1;
    std::vector<double> times_, changed_;
    std::vector<Way> ways_;
    std::vector<Index> way_to_;               // by direction: its place in `ways_`
    std::vector<Send> sends_;                 // by number of a message
    std::vector<Trace> noted_;                // as `sends_`, if traces are asked for
    std::vector<Source> sources_;
    std::vector<Place> places_;               // by number of a message that is received
    std::vector<double> received_;
    std::vector<double> floors_;              // by group: from when on a rank receives
    std::vector<double> served_;              // by VCI: until when its thread is busy
    std::vector<const Span*> spans_;          // by VCI: when it sends next
    double certain_ = kNever;
    std::vector<Expected> coming_;            // to one VCI, while jobs queue for it
    std::vector<double> of_vci_;              // [VCIs][directions]: messages
    std::vector<double> most_;                // by direction: messages of one thread that receives
    std::vector<double> threads_;
    std::vector<Item> items_, queue_, room_, arrived_;
    std::vector<std::size_t> ends_;
    std::vector<Leaving> leaves_;
    SharedPort port_;
    double* received_ends_ = nullptr;
    double behind_ = 0;                       // of one class alone: messages that pass a port while one of them arrives
};

}  // namespace pready
