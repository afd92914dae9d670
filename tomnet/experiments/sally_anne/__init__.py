"""Tests of false belief: the hand-made Sally-Anne scenarios, natural swaps, and the curves made of them."""
