"""Games too small to be interesting, each with something that the large ones will need."""
