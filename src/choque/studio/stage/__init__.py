"""The off-screen stage of pictures and films."""
