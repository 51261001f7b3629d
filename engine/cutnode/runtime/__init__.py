"""Running work in threads and processes: waiting threads, options, limits, Ctrl-C."""
