"""Two volumes on the page, and what they share."""
