"""Five theses: the code that exists only to reproduce them."""
