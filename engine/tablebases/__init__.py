"""Tablebases: all positions of a game solved, loops and dice included, and kept in files."""
