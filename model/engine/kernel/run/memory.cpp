#include "run/memory.hpp"

#include <cstring>
#include <new>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace pready {

constexpr std::int64_t kAlign = 64;
// A page for what is large: a fault for every 4 KiB takes its time, and where these lie is luck.
constexpr std::int64_t kHuge = std::int64_t{1} << 21;

Memory allocate(std::int64_t bytes) {
    const bool large = bytes >= 2 * kHuge;
    const std::int64_t align = large ? kHuge : kAlign;
    const std::int64_t whole = (bytes + kAlign + align - 1) / align * align;
    void* memory = std::aligned_alloc(static_cast<std::size_t>(align), static_cast<std::size_t>(whole));
    if (!memory) throw std::bad_alloc();
#ifdef __linux__
    if (large) madvise(memory, static_cast<std::size_t>(whole), MADV_HUGEPAGE);  // refused, it is only slower
#endif
#ifdef PREADY_POISON
    std::memset(memory, 0xff, static_cast<std::size_t>(whole));  // not a number: reading it shows
#endif
    return Memory(memory);
}

}  // namespace pready
