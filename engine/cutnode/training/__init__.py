"""Learning evaluations from self-play, for any game with a board."""
