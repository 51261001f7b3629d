"""Techniques from outside the engine, as users write them."""
