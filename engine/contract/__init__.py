"""What a game is: its verbs, positions and texts, and what rules are written with."""
