"""Output: tables, figures, pages and the terminal. Shows results; computes none."""
