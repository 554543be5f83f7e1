"""OTF2 traces, as Score-P writes them, as captured runs: `otf2_reading` has their events, in a process of its own."""
