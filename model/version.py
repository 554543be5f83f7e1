"""The version, written into every file and prediction."""

VERSION = "0.1.0"
