"""What every other folder builds on: errors, files, random streams, trees, progress, interrupts, provenance."""
