"""Everything that is compiled for a game: node functions, and what they share."""
