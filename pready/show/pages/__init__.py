"""HTML pages that need nothing else, and the folder that a prediction is sent in."""
