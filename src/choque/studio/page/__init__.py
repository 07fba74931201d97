"""The page in the browser: worlds and recordings."""
