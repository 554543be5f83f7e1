"""Tables for the terminal, rows for CSV and objects for JSON: one file for each kind of result."""
