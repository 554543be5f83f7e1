"""The commands, one file each: parse, call, show. `pready.cli` finds them by name."""
