"""Two nodes, or more, of network namespaces on one machine."""
