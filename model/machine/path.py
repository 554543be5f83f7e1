"""What messages cost on the way between two ranks: LogGP by message size (Alexandrov et al., 1995,
https://doi.org/10.1145/215399.215427), and protocols."""

from __future__ import annotations

import math
from bisect import bisect_right
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field, model_validator

from pready.model.common import units
from pready.model.common.errors import PreadyError, shown
from pready.model.toml.provenance import Provenance, Strict, Value

Protocol = Literal["short", "bcopy", "rendezvous"]
PathName = Literal["inter", "intra"]
Progress = Literal["hardware", "thread", "on-call"]
"""Who moves a rendezvous on: the adapter, a progress thread, or the ranks' threads in their MPI calls."""


class Candidate(Strict):
    """A size from which a protocol may begin, and how probable that is."""

    at: units.Size
    weight: Annotated[float, Field(gt=0, le=1)]


class Begins(Value[units.Size]):
    """The size from which a protocol begins: the most probable one, and a mixture of those that nothing excludes."""

    candidates: tuple[Candidate, ...] = ()
    """By size, weights adding up to 1; absent: the value alone, within its interval."""

    @model_validator(mode="after")
    def _mixture(self) -> Begins:
        total, sizes = sum(c.weight for c in self.candidates), [c.at for c in self.candidates]
        if sizes and (abs(total - 1) > 0.01 or sizes != sorted(set(sizes))):
            raise PreadyError(
                f"candidates with weights of {total:g}", valid="increasing sizes, weights that add up to 1"
            )
        return self


class Segment(Strict):
    """LogGP parameters of messages from `from_` bytes up to the next segment.

    A message of m bytes that meets an idle network takes o_s + O_s m, [handshake], G m, L,
    o_r + O_r m, in this order. O_s and O_r (seconds per byte) are the CPU's copies of the buffered
    protocol; absent, they follow the node's copy bandwidth for ``bcopy`` and are zero otherwise.
    """

    from_: units.Offset = Field(alias="from")
    protocol: Protocol
    L: Value[units.SignedTime]
    """May be negative above the first segment, where it is the intercept of a fitted line. What a message takes stays
    positive."""
    o_s: Value[units.Time]
    o_r: Value[units.Time]
    g: Value[units.Time]
    G: Value[units.TimePerByte]
    G_link: Value[units.TimePerByte] | None = None
    """G with many messages in flight; absent: by the path's link bandwidth."""
    O_s: Value[units.TimePerByte] | None = None
    O_r: Value[units.TimePerByte] | None = None
    handshake: Value[units.Time] | None = None
    begins: Begins | None = None
    """`from`, where that is known to an interval only: the sizes between which this protocol begins; absent: exactly
    there."""
    progress: Value[Progress] | None = None
    """Who answers the rendezvous of these sizes at the receiver; absent: as the machine's `progress` says."""

    @model_validator(mode="after")
    def _handshake_iff_rendezvous(self) -> Segment:
        if (self.protocol == "rendezvous") != (self.handshake is not None):
            raise PreadyError(
                f"protocol = {shown(self.protocol)}, handshake = {self.handshake and self.handshake.value}",
                valid="a handshake for rendezvous, none for short and bcopy",
            )
        if self.begins is not None and self.begins.value != self.from_:
            raise PreadyError(f"begins = {self.begins.value:g} B", valid=f"the segment's from, {self.from_:g} B")
        if self.progress is not None and self.handshake is None:
            raise PreadyError(
                f"progress = {shown(self.progress.value)} beside protocol = {shown(self.protocol)}",
                valid="only with protocol = 'rendezvous': nobody answers another message",
            )
        if self.G.value <= 0:
            raise PreadyError(f"G = {self.G.value!r}", valid="greater than 0")
        if self.handshake is not None and self.handshake.value <= 0:
            raise PreadyError(f"handshake = {self.handshake.value!r}", valid="greater than 0")
        if self.G_link is not None and self.G_link.value > self.G.value * (1 + 1e-6):
            raise PreadyError(
                f"G_link = {self.G_link.value:g} s/B is slower than one message alone",
                valid=f"at most G = {self.G.value:g} s/B",
            )
        return self


class SizeCurve(Provenance):
    """Times measured at a few message sizes: linear in the logarithm between them, constant outside."""

    sizes: tuple[units.Size, ...]
    time: tuple[units.Time, ...]
    interval: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Relative half-width of the 95 % interval of every time."""

    @model_validator(mode="after")
    def _valid(self) -> SizeCurve:
        if not self.sizes or len(self.sizes) != len(self.time) or any(a >= b for a, b in pairwise(self.sizes)):
            raise PreadyError(
                f"{len(self.time)} times for sizes {list(self.sizes)}", valid="as many, of increasing sizes"
            )
        return self

    def at(self, size: float) -> float:
        """The time of messages of `size` bytes."""
        import numpy as np  # listing machines does without it

        return float(np.interp(math.log(max(size, 1.0)), np.log(self.sizes), self.time))


class NetworkPath(Strict):
    """A path between two ranks: its segments by message size, and the bandwidth of many messages."""

    segments: Annotated[tuple[Segment, ...], Field(min_length=1)]
    link_bandwidth: Value[units.Bandwidth]

    @model_validator(mode="after")
    def _ordered(self) -> NetworkPath:
        starts = [s.from_ for s in self.segments]
        if starts[0] != 0 or any(a >= b for a, b in pairwise(starts)):
            raise PreadyError(f"segments start at {starts} bytes", valid="increasing sizes, the first from 0 B")
        for segment in self.segments:
            least = segment.o_s.value + segment.L.value + segment.o_r.value + segment.G.value * segment.from_
            if least < 0 or (segment.from_ == 0 and segment.L.value < 0):
                raise PreadyError(
                    f"segments: L = {segment.L.value:g} s from {segment.from_:g} B, so messages arrive before they go",
                    valid="L of at least 0 in the first segment, o_s + L + G m + o_r of at least 0 in the others",
                )
            if segment.G_link is None and segment.G.value * self.link_bandwidth.value < 1 - 1e-6:
                raise PreadyError(
                    f"segments: G = {segment.G.value:g} s/B from {segment.from_:g} B beats the link bandwidth",
                    valid=f"at least {1 / self.link_bandwidth.value:g} s/B (one message cannot outrun the link)",
                )
        return self

    def segment(self, size: float) -> Segment:
        """The segment that a message of `size` bytes falls into."""
        return self.segments[self.place(size)]

    def place(self, size: float) -> int:
        """The index of that segment."""
        return bisect_right([s.from_ for s in self.segments], size) - 1
