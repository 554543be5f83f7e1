#include "running_lines.hpp"

#include <algorithm>
#include <vector>

namespace pready {

void running_lines(const Rows& x, const Rows& y, const Rows& w, std::int64_t rows, std::int64_t n, double* out) {
    // Each point is taken in by what it adds to the sums around the mean, which are never differences of large numbers.
    struct Step {
        double share, gain, dx, sxx;
    };
    std::vector<Step> steps;
    double total = 0.0, mean_x = 0.0, sxx = 0.0;
    for (std::int64_t i = 0; i < n; ++i) {
        total += w.at(0, i);
        const double share = w.at(0, i) / total, gain = w.at(0, i) * (1 - share), dx = x.at(0, i) - mean_x;
        sxx += gain * dx * dx;
        mean_x += share * dx;
        steps.push_back({share, gain, dx, sxx});
    }
    for (std::int64_t r = 0; r < rows; ++r) {
        double mean_y = 0.0, sxy = 0.0, syy = 0.0;
        for (std::int64_t i = 0; i < n; ++i) {
            const Step& step = steps[static_cast<std::size_t>(i)];
            const double dy = y.at(r, i) - mean_y;
            sxy += step.gain * step.dx * dy;
            syy += step.gain * dy * dy;
            mean_y += step.share * dy;
            *out++ = std::max(syy - (step.sxx > 0 ? sxy * sxy / step.sxx : 0.0), 0.0);
        }
    }
}

}  // namespace pready
