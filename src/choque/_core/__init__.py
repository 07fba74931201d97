"""What every package stands on: kernels, threads, memory, checks, and the structures that know no bodies."""
