// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// Any pattern: who exchanges with whom is in a file of edges.

#include "exchange.hpp"
#include "motif.hpp"

namespace pready {

class PartExchange : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartExchange, "pready", "PartExchangeMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk exchange along the edges of a file", pready::Motif)
    SST_ELI_DOCUMENT_PARAMS(
        {"arg.edges", "file with a line for each edge: phase sender receiver bytes tag", ""},
        {"arg.phases", "phases of an iteration: each of the file so many times in a row; 0: those of the file", "0"},
        {"arg.receives_first", "1: ranks compute on what they receive in a phase (a wavefront)", "0"})

    PartExchange(SST::ComponentId_t id, SST::Params& params)
        : Motif(id, params, "PartExchange", ELI_getParams(), exchange)
    {
    }
};

}  // namespace pready
