"""The code that is compiled for each game: node functions, and the steps that they share."""
