"""Output files: checked before any work, written whole or not at all."""
