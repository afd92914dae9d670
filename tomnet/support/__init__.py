"""What every room leans on: errors, files, random streams, trees, progress, interrupts, provenance."""
