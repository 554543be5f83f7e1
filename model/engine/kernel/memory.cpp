#include "memory.hpp"

#include <cstring>
#include <new>

namespace pready {

constexpr std::int64_t kAlign = 64;

Memory allocate(std::int64_t bytes) {
    const std::int64_t whole = (bytes + kAlign - 1) / kAlign * kAlign + kAlign;
    void* memory = std::aligned_alloc(kAlign, static_cast<std::size_t>(whole));
    if (!memory) throw std::bad_alloc();
#ifdef PREADY_POISON
    std::memset(memory, 0xff, static_cast<std::size_t>(whole));  // not a number: reading it shows
#endif
    return Memory(memory);
}

}  // namespace pready
