"""What every other folder builds on: errors, checks, files, random streams, trees, progress, interrupts, provenance."""
