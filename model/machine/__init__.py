"""The Machine: what communication costs on one cluster."""
