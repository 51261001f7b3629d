"""The command line: one module for each command, and the options that they share."""
