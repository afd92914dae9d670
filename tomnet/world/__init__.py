"""The gridworlds: rules, levels and what can be seen of them. Pure functions of arrays."""
