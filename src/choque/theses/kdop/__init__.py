"""Sweep and prune with k-DOPs on a GPU: the pipeline, the tower and the study."""
