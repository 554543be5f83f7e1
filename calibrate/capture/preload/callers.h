// Who called.
#pragma once

#include <stdint.h>

uint16_t callers_site(const void *at, const void *frame); // the place of a call with its callers
