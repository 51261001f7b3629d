from hypothesis import settings

# The first example may compile, and every run tries the same ones.
settings.register_profile("cutnode", deadline=None, derandomize=True, database=None)
settings.load_profile("cutnode")
