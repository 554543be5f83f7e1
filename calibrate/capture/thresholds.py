"""What was chosen and not derived, with the reason.

Of 41 captured runs some read otherwise without it. None does without two: LEAST_CHAIN keeps a set-up from being a
pipeline, LONGEST_STEP bounds the time. With one half or twice as
large these differ: programs that block, send without a region between, or to nobody at an edge (COMPUTES_S,
MOSTLY), and that output each 20th step (IN_A_ROW).
"""

COMPUTES_S = 100e-6  # outside MPI, in no region, between two places, by the median: computing, and no packing of 1 MiB
ALIKE_SIZES = 1.25  # sizes of one exchange differ from step to step by this factor: particles that leave a cell do
MOSTLY = 0.8  # of messages or exchanges are of a kind: a first step, a last one, and output are of others
LEAST_CHAIN = 4  # messages of a pair of ranks in which a dependency is looked for: two or three follow by chance
LONGEST_STEP = 512  # exchanges: a run that does not repeat is soon known not to
LEAST_COVERED = 0.5  # of a rank's exchanges: what repeats is most of the run
IN_A_ROW = 8  # steps that make a common step, whatever stands between such rows: output, load balancing
WARM_UP = 5  # steps from which on the first is left out, which makes threads and connections
ADDS_UP = 0.05  # by which means over ranks and steps differ from the whole
SAID = 0.02  # of a step, and half of it of a run: below, no note is about it
