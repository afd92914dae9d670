"""The ledger: what the paper claims, one sentence for each claim. What decides it stands with its experiment."""

STATEMENTS = {
    "R1": "The observer approximates Bayes-optimal online inference",
    "R2": "Estimates rise with repeated sight of the same action; lower alpha gives a sparser prior",
    "R3": "An observer predicts best the species it was trained on",
    "R4": "Trained on the mixture {0.01, 3} it does hierarchical inference",
    "R5": "The 2-D embedding segregates agents by their action counts",
    "G1": "From one full trajectory it predicts the next action, the object consumed and the successor map",
    "G2": "More past snapshots give better predictions",
    "G3": "With no past it still knows what any agent of the species would do",
    "G4": "A trapped agent takes the only object in reach",
    "G5": "The 2-D embedding shows the preferred object",
    "G6": "That holds when the next action is the only prediction trained",
    "G7": "2-D and 8-D embeddings do about as well",
    "G8": "From one trajectory it tells greedy agents from goal-driven ones",
    "D1": "Character and mental net both help, on all three predictions",
    "D2": "Shuffling either embedding within a batch hurts",
    "D3": "It generalises to agents never met",
    "D4": "It infers the species from behaviour and predicts where each will go",
    "D5": (
        "A bottleneck disentangles species from preferred object; unused dimensions collapse; blind "
        "agents sit at the prior in the object dimensions"
    ),
    "D6": "Sighted/stateless agents fall into two hidden subspecies, left- and right-handed wall followers",
    "F1": "Agents' policies change when a swap is in view and do not when it is not",
    "F2": "The hand-made Sally-Anne test: the observer predicts the same as the agents do",
    "F3": "The natural Sally-Anne test: swaps change predicted policies where agents see them",
    "F4": "Out-of-view swaps still change the longer-run prediction",
    "F5": "In a mixed population it knows who can see what",
    "F6": "It learns this even when trained with no swaps at all",
    "F7": "3×3 agents are hypersensitive to a swap at distance 1",
    "B1": "It predicts the agents' reported beliefs from behaviour alone",
    "B2": "Seen swaps change the predicted belief, unseen swaps do not",
    "B3": "The embedding orders agents by field of view; 7×7 and 9×9 are hard to tell apart",
    "B4": "Preferred objects form a tetrahedron; blind agents sit at the prior",
}
