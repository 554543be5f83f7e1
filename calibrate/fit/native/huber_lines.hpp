// Huber's straight line through consecutive points of many rows (pready.calibrate.fit.lines).
#pragma once

#include <cstdint>

namespace pready {

// Huber's ρ: quadratic up to k standard deviations, then linear; `worst` is what a point can cost at most.
struct Huber {
    double k, worst;
};

// Points lie row after row, `columns` to a row, and `count` windows of each: a window has the points from its first
// number up to, not including, its second. Weighted least squares, the weights Huber's, so many times anew. Writes
// intercept, slope and cost of each window of each row; `sloped` false: a constant, slope 0.
void huber_lines(const double* x, const double* y, const double* sigma, std::int64_t rows, std::int64_t columns,
                 const std::int64_t* windows, std::int64_t count, bool sloped, int rounds, const Huber& huber,
                 double* out);

}  // namespace pready
