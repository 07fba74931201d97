"""Tests of the studio, as a package: its browser and its studio are closed when a worker goes on to other tests."""
