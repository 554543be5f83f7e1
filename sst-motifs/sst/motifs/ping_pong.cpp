// Copyright (c) 2026, the pready developers
// SPDX-License-Identifier: BSD-3-Clause
//
// This file is part of pready's element library for SST. For license information, see the LICENSE file in the top level
// directory of the distribution.

// One buffer from rank 2k to rank 2k + 1 and back, or an acknowledgement back.

#include "ping_pong.hpp"
#include "motif.hpp"

namespace pready {

class PartPingPong : public Motif {
   public:
    SST_ELI_REGISTER_SUBCOMPONENT(PartPingPong, "pready", "PartPingPongMotif", SST_ELI_ELEMENT_VERSION(1, 0, 0),
        "Partitioned or bulk ping-pong of rank pairs", pready::Motif)
    SST_ELI_DOCUMENT_PARAMS(
        {"arg.bytes", "bytes of the buffer", "1048576"},
        {"arg.receiver", "waiting - computing: where the receiver is while the sender computes", "waiting"},
        {"arg.pong", "1: the buffer is sent back the same way; 0: one byte is", "0"})

    PartPingPong(SST::ComponentId_t id, SST::Params& params)
        : Motif(id, params, "PartPingPong", ELI_getParams(), pingpong)
    {
    }
};

}  // namespace pready
