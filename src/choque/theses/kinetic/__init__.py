"""Direct, incremental and kinetic sweeps of moving polygons: simulations, scenes and study."""
