// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// The CSV of times: one line per rank, iteration and phase, all in picoseconds of simulated time. Plain C++, no SST.
//
// Ranks collect their lines and add them when they are done, so that a file is opened once per rank and not once per
// line, and is closed again. Ranks of one process may live in several threads; every process writes a file of its own.

#pragma once

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

namespace pready {

constexpr const char* RECORD_HEADER =
    "rank,iteration,phase,start_ps,ready_ps,join_ps,issued_ps,first_arrival_ps,completion_ps,end_ps,messages,bytes,arrivals_ps\n";

// Times of one phase; -1 where there is none (nothing sent, nothing received).
struct Record {
    std::int64_t start = 0;          // the phase begins
    std::int64_t ready = -1;         // the last user partition is ready
    std::int64_t join = -1;          // the threads have met
    std::int64_t issued = -1;        // the last send has returned
    std::int64_t first_arrival = -1;  // the first message is complete
    std::int64_t completion = -1;    // every message is complete
    std::int64_t end = 0;            // and every send buffer is free, the threads that sent have met
    std::uint64_t messages = 0;      // sent
    std::uint64_t bytes = 0;         // sent
    std::vector<std::int64_t> arrivals;  // when each message was complete, if asked for
};

inline std::string line(std::int32_t rank, std::uint64_t iteration, std::size_t phase, const Record& r)
{
    std::string text = std::to_string(rank) + ',' + std::to_string(iteration) + ',' + std::to_string(phase);
    for (const std::int64_t t : {r.start, r.ready, r.join, r.issued, r.first_arrival, r.completion, r.end})
        text += ',' + (t < 0 ? std::string() : std::to_string(t));
    text += ',' + std::to_string(r.messages) + ',' + std::to_string(r.bytes) + ',';
    for (std::size_t i = 0; i < r.arrivals.size(); ++i) text += (i ? " " : "") + std::to_string(r.arrivals[i]);
    return text + '\n';
}

// Process 0 writes `path`, process n `path.n`.
inline std::string record_path(const std::string& path, unsigned process)
{
    return process == 0 ? path : path + '.' + std::to_string(process);
}

// Adds a rank's lines to the file of its process, of so many. The first rank of process 0 removes the files of an older
// run that had more processes.
inline void append_record(const std::string& path, unsigned process, unsigned processes, const std::string& lines)
{
    static std::mutex mutex;
    static std::set<std::string> begun;
    const std::lock_guard<std::mutex> lock(mutex);
    const std::string own = record_path(path, process);
    const bool first = begun.insert(own).second;
    if (first && process == 0)
        for (unsigned older = processes; std::remove(record_path(path, older).c_str()) == 0; ++older) {}
    std::ofstream file(own, first ? std::ios::trunc : std::ios::app);
    if (first) file << RECORD_HEADER;
    file << lines << std::flush;
    if (!file) throw std::runtime_error(own + ": cannot be written");
}

}  // namespace pready
