"""One exchange: what a message costs, and what it waits for."""
