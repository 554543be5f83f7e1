"""The Prediction: what comes out, and what may be said of it."""
