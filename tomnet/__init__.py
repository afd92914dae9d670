"""Machine Theory of Mind in JAX.

An observer (ToMnet) watches agents act in small gridworlds and learns, by meta-learning over a population of
them, to predict what a new agent will do, want and believe. Data flows one way through the folders: `world`,
`agents`, `episodes`, `observer` and `ideal`, `experiments`, `figures`, and the `tomnet` command on top.
"""

__version__ = "0.1.0"
