"""Standard output and error: their width, their encoding, and tables that fit."""
