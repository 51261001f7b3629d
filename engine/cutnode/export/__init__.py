"""Games with their solver and searches as packages for C and for the web, without Python."""
