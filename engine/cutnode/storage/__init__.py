"""Files of arrays, tables and books: written atomically, checked, and mapped into memory."""
