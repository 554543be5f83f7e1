// The numbers of fields.def as Python gave them, kept for as long as a Plan points to them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "recurrence/plan.hpp"

namespace pready {

struct Fields {
#define SCALAR(type, name) type name{};
#define TRIPLE(type, name) std::array<type, 3> name{};
#define ARRAY(type, name, ...) std::vector<type> name;
#include "recurrence/fields.def"

    // Which array has another length than fields.def says; empty if none.
    std::string misshapen() const;

    // Fills in what a plan takes from here; arrays by their address.
    void point(Plan& plan) const;

    // Takes over the costs and the seed of others that differ in nothing else, in place, so that plans stay valid.
    void take(const Fields& other);

    std::int64_t jobs() const;

    // Are arrivals drawn, and not read from a table? And the same ones by another?
    bool drawn() const { return arrivals != Arrivals::table; }
    bool draws_as(const Fields& other) const;

   private:
    bool listed() const { return pattern == Pattern::list || pattern == Pattern::tree; }
};

}  // namespace pready
