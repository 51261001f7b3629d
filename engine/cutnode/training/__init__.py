"""Evaluations learned from games that a program plays against itself, for any game with a board."""
