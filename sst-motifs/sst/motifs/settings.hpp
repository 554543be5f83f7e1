// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// The parameters of a motif as a structure, read strictly: a value that is not what it should be is an error. What each
// means is in the tables of the motifs (motif.hpp, exchange.cpp, ping_pong.cpp), with the defaults that stand here.

#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>

namespace pready {

using Text = std::string;
using Count = std::uint64_t;
using Time = double;  // nanoseconds

// Looks a parameter up: its text, if it is given.
using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

// Text with %20 for a blank and %3D for "=", at which Ember splits its lines.
inline void parse(const std::string& name, const std::string& text, Text& value)
{
    value.clear();
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '%') {
            value += text[i];
            continue;
        }
        const std::string digits = text.substr(i + 1, 2);
        if (digits.size() != 2 || digits.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
            throw std::invalid_argument(name + " = " + text + "; valid: two hexadecimal digits after %, %25 for % itself");
        value += static_cast<char>(std::stoi(digits, nullptr, 16));
        i += 2;
    }
}

inline void parse(const std::string& name, const std::string& text, Count& value)
{
    std::size_t used = 0;
    const bool digits = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    try {
        value = digits ? std::stoull(text, &used) : 0;
    } catch (const std::out_of_range&) {
        used = 0;
    }
    if (!digits || used != text.size()) throw std::invalid_argument(name + " = " + text + "; valid: a whole number, at least 0");
}

inline void parse(const std::string& name, const std::string& text, Time& value)
{
    std::size_t used = 0;
    try {
        value = std::stod(text, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size() || !std::isfinite(value) || value < 0)
        throw std::invalid_argument(name + " = " + text + "; valid: nanoseconds, finite, at least 0");
}

struct Settings {
    Text approach = "single";
    Count threads = 1, partitions = 1, transport = 1, iterations = 10;
    Text arrivals, record;
    Time compute_ns = 0, laggard_ns = 0, barrier_ns = 0, contention_ns = 0, progress_ns = 0, waiting_ns = 0;
    Count answers = 0;
    Count messages = 0;
    // Of a ping-pong.
    Count bytes = 1048576;
    Text receiver = "waiting";
    Count pong = 0;
    // Of an exchange along edges.
    Text edges;
    Count phases = 0, receives_first = 0;

    // Calls `each` with the name and the place of every parameter. A motif is given those of its own table only.
    template <class Each>
    void visit(Each each)
    {
        each("approach", approach);
        each("threads", threads);
        each("partitions", partitions);
        each("transport", transport);
        each("iterations", iterations);
        each("compute_ns", compute_ns);
        each("laggard_ns", laggard_ns);
        each("arrivals", arrivals);
        each("barrier_ns", barrier_ns);
        each("contention_ns", contention_ns);
        each("progress_ns", progress_ns);
        each("waiting_ns", waiting_ns);
        each("answers", answers);
        each("record", record);
        each("messages", messages);
        each("bytes", bytes);
        each("receiver", receiver);
        each("pong", pong);
        each("edges", edges);
        each("phases", phases);
        each("receives_first", receives_first);
    }

    static Settings read(const Lookup& lookup)
    {
        Settings s;
        s.visit([&](const char* name, auto& value) {
            if (const auto text = lookup(name)) parse(name, *text, value);
        });
        s.check();
        return s;
    }

    Count user_partitions() const { return threads * partitions; }
    bool bulk() const { return approach == "single"; }
    bool partitioned() const { return approach == "part"; }

   private:
    void check() const
    {
        const auto require = [](bool holds, const std::string& problem, const std::string& valid) {
            if (!holds) throw std::invalid_argument(problem + "; valid: " + valid);
        };
        const Count most = 1'000'000;
        require(bulk() || approach == "part" || approach == "many", "approach = " + approach, "single, part, many");
        require(receiver == "waiting" || receiver == "computing", "receiver = " + receiver, "waiting, computing");
        require(threads >= 1 && threads <= most, "threads = " + std::to_string(threads), "1 to 1000000");
        require(partitions >= 1 && partitions <= most, "partitions = " + std::to_string(partitions), "1 to 1000000");
        require(transport >= 1 && user_partitions() % transport == 0, "transport = " + std::to_string(transport),
            "a divisor of threads x partitions = " + std::to_string(user_partitions()));
        require(iterations >= 1 && iterations <= most, "iterations = " + std::to_string(iterations), "1 to 1000000");
        // Firefly computes the time of a copy in 32-bit signed bytes.
        require(bytes >= 1 && bytes < (Count{1} << 31), "bytes = " + std::to_string(bytes), "1 to 2147483647");
        require(phases <= most, "phases = " + std::to_string(phases), "0 to 1000000");
        for (const Count flag : {pong, receives_first, messages, answers})
            require(flag <= 1, "a switch = " + std::to_string(flag), "0 or 1");
    }
};

}  // namespace pready
