"""What the user's own MPI library does with partitioned communication, found out in jobs that may crash or hang."""
