"""Voxel volumes in the Extreme Vertices Model: the trie, the sweep, the baselines and the study."""
