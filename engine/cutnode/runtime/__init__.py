"""Work in threads that is looked after: waiting threads, limits, stop events, Ctrl-C."""
