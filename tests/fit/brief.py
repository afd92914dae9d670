"""A training that is over at once."""

from tomnet.fit.training import FitTraining

BRIEF = FitTraining(steps=2, sequences=2, window=4, views=4, evaluate_every=1)
