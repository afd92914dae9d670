"""Episodes of behaviour, and the encounters in which an observer learns about one agent."""
