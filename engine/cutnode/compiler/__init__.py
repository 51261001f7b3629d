"""From rules and kernels to machine code, or to plain Python."""
