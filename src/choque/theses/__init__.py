"""The five theses: whatever exists only to reproduce one of them."""
