"""A user's own exchange, predicted and measured side by side."""
