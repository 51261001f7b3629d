"""The games that come with cutnode, one module each; a new one is a new file here."""
