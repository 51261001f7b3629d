"""The tree that a search visited: recorded, and drawn."""
