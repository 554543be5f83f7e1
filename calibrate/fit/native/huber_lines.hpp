// Huber's straight line through consecutive points of many rows (pready.calibrate.fit.lines).
#pragma once

#include <cstdint>

namespace pready {

// Rows of values, any steps apart: a step of 0 is the same row, or the same value, again and again.
struct Rows {
    const double* first;
    std::int64_t row, column;

    double at(std::int64_t r, std::int64_t c) const { return first[r * row + c * column]; }
};

// Of row r, as many windows: window w has the points from at(r, w, 0) up to, not including, at(r, w, 1).
struct Windows {
    const std::int64_t* first;
    std::int64_t row, window, side, count;

    std::int64_t at(std::int64_t r, std::int64_t w, int s) const { return first[r * row + w * window + s * side]; }
};

// Huber's ρ: quadratic up to k standard deviations, then linear; `worst` is what a point can cost at most.
struct Huber {
    double k, worst;
};

// Weighted least squares, the weights Huber's, so many times anew. Writes intercept, slope and cost of each window of
// each row; `sloped` false: a constant, slope 0.
void huber_lines(const Rows& x, const Rows& y, const Rows& sigma, std::int64_t rows, std::int64_t columns,
                 const Windows& windows, bool sloped, int rounds, const Huber& huber, double* out);

}  // namespace pready
