// Straight lines through ever more points, for pready.calibrate.fit.linearity.
#pragma once

#include <cstdint>

#include "huber_lines.hpp"

namespace pready {

// Weighted residual sums of squares of the line through the first 1, 2, …, n points, of as many rows; x and w have one.
// Writes n numbers per row.
void running_lines(const Rows& x, const Rows& y, const Rows& w, std::int64_t rows, std::int64_t n, double* out);

}  // namespace pready
