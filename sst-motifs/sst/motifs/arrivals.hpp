// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// Ready times from a NumPy file: a C-ordered 2-D array of 64-bit floats, in seconds. Plain C++, no SST.
//
// One row per rank and draw: row = rank x draws + draw. What is not such a file is an error that says why. Each rank reads
// its own rows at once and closes the file: a process may have more ranks than files that it may open.

#pragma once

#include <algorithm>
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
    Arrivals(const std::string& path, std::uint64_t rank, std::uint64_t ranks, std::uint64_t columns)
        : path_(path), columns_(columns)
    {
        std::ifstream file(path, std::ios::binary);
        if (!file) fail("cannot be read");
        char head[8];
        if (!file.read(head, 8) || std::memcmp(head, "\x93NUMPY", 6) != 0) fail("is not a .npy file");
        unsigned char length[4] = {};
        const int wide = head[6] >= 2 ? 4 : 2;
        if (!file.read(reinterpret_cast<char*>(length), wide)) fail("ends in its header");
        const std::uint32_t size = length[0] | length[1] << 8U | length[2] << 16U | static_cast<std::uint32_t>(length[3]) << 24U;
        if (size > 65536) fail("has a header of " + std::to_string(size) + " bytes");
        std::string header(size, ' ');
        if (!file.read(header.data(), size)) fail("ends in its header");
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
        times_.resize(draws_ * columns_);
        const auto bytes = static_cast<std::streamsize>(times_.size() * sizeof(double));
        file.seekg(static_cast<std::streamoff>(rank) * bytes, std::ios::cur);
        file.read(reinterpret_cast<char*>(times_.data()), bytes);
        if (file.gcount() != bytes) fail("ends in row " + std::to_string(rank * draws_ + row_of(file.gcount()) + 1));
        for (std::size_t i = 0; i < times_.size(); ++i) {
            if (!std::isfinite(times_[i]) || times_[i] < 0)
                fail("row " + std::to_string(rank * draws_ + i / columns_ + 1) + " holds " + std::to_string(times_[i]) +
                    "; valid: finite, at least 0");
            times_[i] *= 1e9;
        }
    }

    // Ready times of a draw in ns; draws repeat after the last one.
    std::vector<double> operator()(std::uint64_t draw) const
    {
        const auto begin = times_.begin() + static_cast<std::ptrdiff_t>(draw % draws_ * columns_);
        return {begin, begin + static_cast<std::ptrdiff_t>(columns_)};
    }

   private:
    [[noreturn]] void fail(const std::string& problem) const { throw std::invalid_argument(path_ + ": " + problem); }

    std::uint64_t row_of(std::streamsize bytes) const
    {
        return static_cast<std::uint64_t>(std::max<std::streamsize>(bytes, 0)) / (columns_ * sizeof(double));
    }

    std::string path_;
    std::uint64_t columns_;
    std::uint64_t draws_ = 0;
    std::vector<double> times_;
};

}  // namespace pready
