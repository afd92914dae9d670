"""The command line: `tomnet …`."""
