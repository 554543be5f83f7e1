"""Predictions against papers, live measurements and SST."""
