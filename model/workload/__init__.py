"""The Workload: what the application does in a step."""
