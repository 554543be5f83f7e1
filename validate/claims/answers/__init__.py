"""What the model says: one function for each kind of question that a claim can ask."""
