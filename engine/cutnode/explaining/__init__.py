"""Explanations of positions, reviews of games, and puzzles: verdicts in words, with their lines."""
