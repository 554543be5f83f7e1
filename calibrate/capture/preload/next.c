// The functions behind our wrappers.
#include "next.h"

#include <dlfcn.h>
#include <link.h>
#include <string.h>

struct looked_for {
    const char *name;
    void *found;
};

// A program may open MPI or OpenMP with RTLD_LOCAL (Python does): RTLD_NEXT does not find it then.
static int look(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    struct looked_for *const wanted = data;
    const char *const base = info->dlpi_name == NULL ? NULL : strrchr(info->dlpi_name, '/');
    if (base == NULL || (strstr(base, "mpi") == NULL && strstr(base, "omp") == NULL))
        return 0;
    if (strstr(base, "pready_capture") != NULL)
        return 0;
    void *const object = dlopen(info->dlpi_name, RTLD_LAZY | RTLD_NOLOAD);
    if (object == NULL)
        return 0;
    wanted->found = dlsym(object, wanted->name);
    dlclose(object);
    return wanted->found != NULL;
}

static void *first_of(void *where, const char *name)
{
    void *const next = dlsym(where, name);
    if (next != NULL)
        return next;
    struct looked_for wanted = {name, NULL};
    dl_iterate_phdr(look, &wanted);
    return wanted.found;
}

// ISO C has no conversion between the two kinds of pointers; POSIX says that they are the same.
function_t *next_symbol(const char *name)
{
    void *const object = first_of(RTLD_NEXT, name);
    function_t *function;
    _Static_assert(sizeof object == sizeof function, "POSIX");
    memcpy(&function, &object, sizeof function);
    return function;
}

// The linker may copy data into the program: the first symbol is the one in use.
void *data_symbol(const char *name)
{
    return first_of(RTLD_DEFAULT, name);
}
