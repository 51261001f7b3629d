"""Playing games: players, matches, and a game in the terminal."""
