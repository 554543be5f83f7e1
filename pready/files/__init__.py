"""Files that are written: whole or not at all, and refused before any work is done for them."""
