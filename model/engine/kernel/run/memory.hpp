// Aligned memory that nobody initialises.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace pready {

struct Release {
    void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Release>;

Memory allocate(std::int64_t bytes);

inline double* doubles(const Memory& memory) { return static_cast<double*>(memory.get()); }

}  // namespace pready
