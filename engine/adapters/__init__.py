"""Games from other libraries, and games for them."""
