"""What is kept in files: written aside, checked, mapped into memory."""
