"""Reading, writing and checking files."""
