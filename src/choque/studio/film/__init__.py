"""Films."""
