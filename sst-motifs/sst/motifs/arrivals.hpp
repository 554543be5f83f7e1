// Ready times from a NumPy file: a C-ordered 2-D array of 64-bit floats, in seconds. Plain C++, no SST.
//
// One row per rank and draw: row = rank x draws + draw. What is not such a file is an error that says why.

#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace pready {

class Arrivals {
   public:
    Arrivals(const std::string& path, std::uint64_t ranks, std::uint64_t columns)
        : path_(path), columns_(columns), file_(path, std::ios::binary)
    {
        if (!file_) fail("cannot be read");
        char head[8];
        if (!file_.read(head, 8) || std::memcmp(head, "\x93NUMPY", 6) != 0) fail("is not a .npy file");
        unsigned char length[4] = {};
        const int wide = head[6] >= 2 ? 4 : 2;
        if (!file_.read(reinterpret_cast<char*>(length), wide)) fail("ends in its header");
        const std::uint32_t size = length[0] | length[1] << 8U | length[2] << 16U | static_cast<std::uint32_t>(length[3]) << 24U;
        if (size > 65536) fail("has a header of " + std::to_string(size) + " bytes");
        std::string header(size, ' ');
        if (!file_.read(header.data(), size)) fail("ends in its header");
        if (header.find("'<f8'") == std::string::npos) fail("does not hold little-endian 64-bit floats");
        if (header.find("'fortran_order': False") == std::string::npos) fail("is in Fortran order");
        const std::size_t open = header.find('('), comma = header.find(',', open), close = header.find(')', open);
        if (open == std::string::npos || comma == std::string::npos || close == std::string::npos || comma > close)
            fail("has no shape");
        std::uint64_t rows = 0, found = 0;
        try {
            rows = std::stoull(header.substr(open + 1));
            found = std::stoull(header.substr(comma + 1));
        } catch (const std::exception&) {
            fail("is not 2-D");
        }
        if (found != columns) fail("has " + std::to_string(found) + " columns; valid: " + std::to_string(columns) + ", one per user partition");
        if (rows == 0 || rows % ranks) fail("has " + std::to_string(rows) + " rows; valid: a multiple of " + std::to_string(ranks) + " ranks");
        draws_ = rows / ranks;
        start_ = file_.tellg();
    }

    // Ready times in ns of one rank and draw; draws repeat after the last one.
    std::vector<double> operator()(std::uint64_t rank, std::uint64_t draw)
    {
        const std::uint64_t row = rank * draws_ + draw % draws_;
        std::vector<double> times(columns_);
        file_.seekg(start_ + static_cast<std::streamoff>(row * columns_ * sizeof(double)));
        if (!file_.read(reinterpret_cast<char*>(times.data()), static_cast<std::streamsize>(columns_ * sizeof(double))))
            fail("ends in row " + std::to_string(row + 1));
        for (double& t : times) {
            if (!std::isfinite(t) || t < 0) fail("row " + std::to_string(row + 1) + " holds " + std::to_string(t) + "; valid: finite, at least 0");
            t *= 1e9;
        }
        return times;
    }

   private:
    [[noreturn]] void fail(const std::string& problem) const { throw std::invalid_argument(path_ + ": " + problem); }

    std::string path_;
    std::uint64_t columns_;
    std::ifstream file_;
    std::uint64_t draws_ = 0;
    std::streamoff start_ = 0;
};

}  // namespace pready
