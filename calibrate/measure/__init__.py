"""From the launcher to a raw file."""
