"""Results of benchmarks that users already have, as observations in SI units; and the machine that they describe.

    text.py        bytes to lines, tokens to numbers     disagreement.py   runs that are not of one machine
    suites.py      OSU and IMB: titles, columns          plausible.py      figures that contradict each other
    sections.py    tables below a suite's title          benchmarks.py     runs of one machine as one
    command.py     what a run was, by its command        collect.py        files and folders
    netgauge.py, own_csv.py   files of other shapes      to_machine.py     from runs to a machine
    unnamed.py     what does not name itself

Nothing is guessed: what does not name its test is refused. Every fault of a file is an ImportFormatError, one line.
"""
