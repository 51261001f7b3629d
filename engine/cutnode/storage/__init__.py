"""Files of arrays, tables and books: written aside, checked, mapped into memory."""
