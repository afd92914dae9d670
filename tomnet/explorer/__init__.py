"""The explorer: a page on which to play with observers and the agents that they observe."""
