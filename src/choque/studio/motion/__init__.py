"""A kinetic sweep on the page, with the reason for its next event."""
