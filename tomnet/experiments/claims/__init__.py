"""Claims of the paper: what they say, and the measurements that decide them."""
