"""From measured times to the values of a machine file, each with its interval."""
