"""Who sends to whom, and which ranks share a node."""
