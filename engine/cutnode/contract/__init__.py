"""The contract of a game: its verbs, positions and texts, and the tools to write rules with."""
