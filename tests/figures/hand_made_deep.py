"""Tables of section 3.3, made by hand: plausible, and such that every claim is reproduced."""

import numpy as np

from tomnet.experiments import agent_embeddings, deep_rl_agents
from tomnet.experiments.agent_embeddings import FactorReadOut, FactorReadOuts
from tomnet.experiments.analysis import species_maps, table_a1, wall_followers
from tomnet.experiments.analysis.character_space import Agreement, Dimension, ReadOut
from tomnet.experiments.analysis.evaluation_set import Met
from tomnet.experiments.analysis.examples import PlainEpisode, PlainState
from tomnet.experiments.analysis.statistics import Estimate
from tomnet.experiments.analysis.table_a1 import OBSERVERS, PAPER, Cut, LossRow
from tomnet.experiments.analysis.three_species import PARTS, SPECIES
from tomnet.observer.config import BEHAVIOUR

SIZE = 11
WALLS = np.array([[int(row == 4 and 2 <= col <= 7) for col in range(SIZE)] for row in range(SIZE)])
QUERY = PlainState(WALLS, agent_cell=60, object_cells=[0, 10, 110, 120, 64])
TRIP = PlainEpisode(
    WALLS, agent_cells=[15, 14, 13], object_cells=[12, 40, 90, 5, 100], actions=[2, 2, 2], final_cell=12
)
MET = {part: Met(agents=120, encounters=600) for part in PARTS}


def around(value: float, by: float = 0.01) -> Estimate:
    return Estimate(value, value - by, value + by, 120)


def loss_rows() -> list[LossRow]:
    """The paper's own losses, a little better where the paper is at the threshold."""
    rows = []
    for number, part in enumerate(PARTS):
        for (observer, shuffled), by_head in PAPER.items():
            for head in BEHAVIOUR:
                loss = by_head[head][number]
                rise = around(loss - PAPER[observer, ()][head][number], 0.05) if shuffled else None
                rows.append(LossRow(part, observer, shuffled, head, around(loss), loss, rise))
    return rows


def cut(head: str, name: str) -> Cut:
    mine, none, both = (PAPER[who, ()][head][1] for who in (name, "none", "both"))
    saved = 1 - mine / none
    better = 0.352 if (head, name) == ("action", "both") else 0.001 + saved
    return Cut(Estimate(better, saved - 0.01, saved + 0.01, 120), saved, around(mine - both))


def deep_rl_agents_tables() -> deep_rl_agents.Tables:
    even = np.full((3, SIZE, SIZE), 1 / SIZE**2)
    told = ReadOut(around(0.97), np.array([[1.0, 0, 0], [0, 0.95, 0.05], [0, 0.04, 0.96]]))
    both, none = ({head: PAPER[name, ()][head] for head in BEHAVIOUR} for name in ("both", "none"))
    return deep_rl_agents.Tables(
        met=MET,
        losses=loss_rows(),
        cuts={head: {name: cut(head, name) for name in OBSERVERS} for head in BEHAVIOUR},
        generalisation={
            head: table_a1.Generalisation(
                *both[head], around(0.01, 0.03), around(0.02, 0.03), both[head][1] / both[head][0] - 1
            )
            for head in BEHAVIOUR
        },
        floor=table_a1.Floor(
            encounters=240,
            rollouts=32,
            heads={
                head: table_a1.HeadFloor(
                    around(0.6 * both[head][1]), around(0.4 * both[head][1]), none[head][1], both[head][1]
                )
                for head in BEHAVIOUR
            },
            policy=around(0.47),
        ),
        species={"neighbours": told, "linear": told},
        maps=species_maps.Maps(
            rule="the first",
            query=QUERY,
            preferred=0,
            past=4,
            rollouts=64,
            gammas=(0.5, 0.9, 0.99),
            species=[species_maps.SpeciesMap(name, TRIP, even, even) for name in SPECIES],
            apart=np.array([[0.1, 0.4, 0.4], [0.4, 0.1, 0.3], [0.4, 0.3, 0.1]]),
            nearest_is_own=0.92,
        ),
    )


def agent_embeddings_tables() -> agent_embeddings.Tables:
    """Two dimensions for the species, two for the object, four collapsed, as in the paper."""
    nats = [1.6, 1.2, 0.9, 0.8, 0.01, 0.01, 0.0, 0.0]
    carries = ["species", "species", "object", "object", None, None, None, None]
    dimensions = [
        Dimension(
            dimension=number,
            nats=held,
            used=held > 0.1,
            collapsed=held < 0.05,
            species_share=0.9 if factor == "species" else 0.05,
            object_share=0.9 if factor == "object" else 0.05,
            carries=factor,
        )
        for number, (held, factor) in enumerate(zip(nats, carries))
    ]

    def read_outs(accuracy: float, chosen: list[int], kinds: int) -> FactorReadOuts:
        everything = FactorReadOut(list(range(len(nats))), around(accuracy + 0.01), None)
        own = FactorReadOut(chosen, around(accuracy), None)
        return FactorReadOuts(1 / kinds, everything, everything, own, own)

    species = [name for name in SPECIES for _ in range(4)]
    places = {"blind": (-1.5, 0.0), "stateless-5x5": (1.0, 1.0), "5x5": (1.0, -1.2)}
    corners = [(1.2, 1.2), (-1.2, 1.2), (-1.2, -1.2), (1.2, -1.2)]
    preferred = [number % 4 for number in range(len(species))]
    liked = [(0.0, 0.0) if name == "blind" else corners[kind] for name, kind in zip(species, preferred)]
    sure = [[1.0, 1.0] if name == "blind" else [0.3, 0.3] for name in species]
    networks = [
        wall_followers.ClusteredNetwork(
            hand=wall_followers.Hand(10 + number, around(hand, 0.1), 300),
            cluster=int(hand < 0),
            along=-hand,
            preferred=0,
            mean=np.array([[1.0 + 0.1 * number, 1.0 - hand + 0.1 * trace] for trace in range(5)]),
            deviation=np.tile([0.2, 0.3], (5, 1)),
        )
        for number, hand in enumerate([0.6, 0.5, 0.55, -0.6, -0.45, -0.5])
    ]
    field = wall_followers.ShownField(
        query=QUERY,
        one=np.tile([0.0, 0.5], (SIZE**2, 1)),
        other=np.tile([0.0, -0.5], (SIZE**2, 1)),
        divergence=np.arange(SIZE**2) / SIZE**2 * 0.6,
    )
    return agent_embeddings.Tables(
        met=MET,
        dimensions=dimensions,
        divergence=agent_embeddings.Divergence(
            all=[around(held, 0.001) for held in nats],
            species={
                name: [around(0.03 if name == "blind" and f == "object" else n) for n, f in zip(nats, carries)]
                for name in SPECIES
            },
            blind_in_object=around(0.03),
        ),
        read_outs={"species": read_outs(0.97, [0, 1], 3), "object": read_outs(0.92, [2, 3], 4)},
        posteriors=agent_embeddings.ShownPosteriors(
            species=species,
            preferred=preferred,
            pairs={
                "species": agent_embeddings.PosteriorPair(
                    [0, 1], 2, np.array([places[name] for name in species]), np.tile([0.3, 0.4], (len(species), 1))
                ),
                "object": agent_embeddings.PosteriorPair([2, 3], 2, np.array(liked), np.array(sure)),
            },
        ),
        subspecies=wall_followers.WallFollowers(
            dimensions=[0, 1],
            gain=12.5,
            silhouette=0.8,
            pair=[0, 1],
            agreement=Agreement(Estimate(1.0, 1.0, 1.0, 6), Estimate(0.97, 0.9, 0.99, 6), -1.0, 3, 3),
            centres=np.array([[1.1, 0.6], [1.4, 1.7]]),
            each=networks,
        ),
        fields=wall_followers.PolicyFields(
            shown=[field, field],
            rule="the first",
            levels=16,
            anticlockwise=[around(-0.12), around(0.14)],
            difference=around(-0.26),
        ),
    )
