"""Asking an observer about an agent: one at a time, by name, with every input checked.

answer        what an observer says, as probabilities with names
inputs        whatever people have at hand (recordings, pictures, levels) as what observers read
validation    the check: what cannot be read is refused, what is unlike the training is said to be
transitions   where actions lead: what the check holds steps against, and how an episode goes on
agent_model   an observer's model of one agent, who is met once and then asked about, step by step too
"""
