"""Other programs that are set beside the engine, where they are installed."""
