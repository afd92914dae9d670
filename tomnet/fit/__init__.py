"""An observer for somebody else's agents, fitted to recordings of them, beside what a sceptic asks for.

symmetry             the eight ways to turn a maze over
duplicates           which episodes are copies of each other
distances            walking distances in many mazes at once
dataset              recordings as arrays: states that are asked about, and what then happened
domain               what was met in fitting
split                training, validation and test parts that share no episode
observer_protocol    the contract: past episodes and a query state in, probabilities out
baselines            the nearest object, the favourite so far
inverse_planner      Bayesian inverse planning, its population prior fitted by maximum likelihood
network, training    a ToMnet for recordings
warm_start,          a pretrained observer to start from: whether it fits,
  start_comparison     and whether it helped
tomnet_inputs,       recordings as the paper's ToMnet reads them; with them
  fine_tuning,         it is trained on,
  tomnet_observer      and asked about them
mixture              network and inverse planner together, weighed by the validation part
scores               what is reported: losses and accuracies against N_past, calibration
result               what a fit found, as a table
run                  all of it, in a run folder; saved is what `fitted_observer` loads and asks
"""
