"""Claims of the paper: what they say, the statistics behind them, and what decides them."""
