"""Results of benchmarks that users already have, as observations in SI units; and the machine that they describe.

Nothing is guessed: what does not name its test is refused. Every fault of a file is an ImportFormatError, one line.
"""
