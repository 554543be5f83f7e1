"""A table that fits a narrow terminal without cutting values."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

INDENT = 4


class Readable(Table):
    """A table where it fits, else one whose headers are on the lines that they have, else a list per row. No value is
    cut.

    Parameters
    ----------
    heading
        A line above the table, over the terminal's whole width.
    gap
        Blanks between columns.
    tight
        No blank line below the heading, and no rule below the columns' names.
    """

    def __init__(self, *headers: Column | str, heading: str = "", gap: int = 2, tight: bool = False) -> None:
        ruled = None if tight else box.SIMPLE_HEAD
        # A box's own divider is the last blank.
        super().__init__(*headers, box=ruled, show_edge=False, pad_edge=False, padding=(0, gap - (not tight), 0, 0))
        self.heading, self.gap, self.tight = heading, gap, tight

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.heading:
            yield Text(self.heading, style="bold")
            if not self.tight:
                yield Text("")
        folded = [str(column.header) for column in self.columns]
        for headers in ([" ".join(header.split("\n")) for header in folded], folded):
            for column, header in zip(self.columns, headers, strict=True):
                column.header = header
            least, most = self._widths(console, options)
            if (spare := options.max_width - self.gap * (len(least) - 1) - sum(least)) >= 0:
                self._share(spare, least, most)
                yield from super().__rich_console__(console, options)
                break
        else:
            yield from self._lists(console)
        for column, header in zip(self.columns, folded, strict=True):
            column.header = header  # another terminal may be narrower

    def _widths(self, console: Console, options: ConsoleOptions) -> tuple[list[int], list[int]]:
        """Each column's least width at which no word is cut and no `no_wrap` cell wrapped, and that of one line."""
        wide = options.update_width(10_000)
        least, most = [], []
        for column in self.columns:
            cells = [Measurement.get(console, wide, cell) for cell in (column.header, *column.cells)]
            most.append(max(*(m.maximum for m in cells), column.min_width or 0))
            least.append(most[-1] if column.no_wrap else max(*(m.minimum for m in cells), column.min_width or 0))
        return least, most

    def _share(self, spare: int, least: list[int], most: list[int]) -> None:
        """Give each column its longest word, then share the rest (Rich alone cuts words)."""
        for column in self.columns:
            column.width = None
        if sum(most) - sum(least) > spare:
            wants = sorted(range(len(least)), key=lambda n: most[n] - least[n])
            for left, n in zip(range(len(wants), 0, -1), wants, strict=True):
                more = min(most[n] - least[n], spare // left)  # small wants are met, the others share equally
                self.columns[n].width = least[n] + more
                spare -= more

    def _lists(self, console: Console) -> Iterator[RenderableType]:
        """Each row's name, and below it a line per column: header and value."""
        columns = [list(column.cells) for column in self.columns]
        # Columns without a header are part of the row's name.
        named = next((n for n, c in enumerate(self.columns) if str(c.header)), 0) + 1
        headers = [" ".join(str(c.header).split()) for c in self.columns]
        for number, row in enumerate(self.rows):
            name = Text(" ").join(_styled(cells[number], row.style) for cells in columns[:named])
            yield name
            values = Table.grid(padding=(0, 2))
            values.add_column(no_wrap=True, style="dim")
            values.add_column(overflow="fold")
            for header, cells in zip(headers[named:], columns[named:], strict=True):
                if str(cells[number]).strip():
                    values.add_row(header, cells[number])
            yield Padding(values, (0, 0, 0, INDENT), expand=False)


def _styled(cell: RenderableType, style: Any) -> Text:
    text = cell.copy() if isinstance(cell, Text) else Text(str(cell))
    if style:
        text.stylize(style)
    return text
