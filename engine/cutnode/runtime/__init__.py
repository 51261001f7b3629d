"""Running work in threads and processes: waiting threads, limits, stop events, Ctrl-C."""
