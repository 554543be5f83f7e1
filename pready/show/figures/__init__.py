"""Pictures: one file for each figure; `prediction`, `whatif` and `capture` say what is drawn, `files` writes it."""
