"""The response `soft-step` and its parts."""
