"""Broad-phase methods kept for comparison, registered as a third party's are."""
