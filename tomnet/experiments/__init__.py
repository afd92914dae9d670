"""The paper's experiments: one file for each, config as data, a Result of plain tables."""
