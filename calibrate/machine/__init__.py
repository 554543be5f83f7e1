"""From measured arrays to a Machine."""
