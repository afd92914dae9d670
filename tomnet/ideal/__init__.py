"""Ideal observers: the best that any observer of these agents can do, the measure for a learned one.

Random agents (section 3.1) and goal-driven agents (section 3.2), both exactly; deep RL agents of a known pool (from
section 3.3 on), with an exact posterior over who it is and sampled futures:

    counts = dirichlet.action_counts(encounters.past, encounters.past_real)
    policies = dirichlet.predictive(counts, alphas=(0.01, 3.0))

    ideal = InversePlanner.for_species(key, PlannerSpecies(), MAZE)
    log_weights = ideal.posterior(encounters.past, encounters.past_real)
    predictions = ideal.predict(log_weights, encounters.query)

    through = BehindView(ideal, NoisyActions(0.2))     # who sees badly, and knows how badly
    log_weights = through.posterior(key, encounters.past, encounters.past_real)

    known = KnownAgents(pool.agents(), pool.condition_numbers(), SUBGOAL_MAZE)
    predictions = known.observe(key, encounters)

The predictions are of the same type as ToMnet's, so `observer.losses` compares the two.
"""

from . import dirichlet
from .behind_view import BehindView
from .inverse_planning import InversePlanner
from .known_agents import KnownAgents

__all__ = ["BehindView", "InversePlanner", "KnownAgents", "dirichlet"]
