"""The agents: everything that acts, behind one contract."""
