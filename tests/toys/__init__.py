"""Games too small to be interesting, each with a feature that larger games need."""
