"""Ways to send a buffer, and what MPI libraries make of them."""
