"""Colours of pictures, which are white.

After Okabe and Ito's palette, which colour-blind readers can tell apart, darker: each contrasts with white by at least
4.5, as WCAG 2.1 asks of text (success criterion 1.4.3).
"""

from __future__ import annotations

COLOURS = ("#0072B2", "#C24E00", "#00815E", "#A8548A", "#946400", "#2178A8")
"""Of lines, in order."""

NEUTRAL = "#6E6E6E"

LINES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)))
"""Line styles, for readers who see no colours."""
