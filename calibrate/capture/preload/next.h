// The functions behind our wrappers.
#pragma once

typedef void function_t(void);
function_t *next_symbol(const char *name); // NULL if not found
void *data_symbol(const char *name);
