"""No episode, and no copy of one, is in two parts."""

from dataclasses import replace

import numpy as np
import pytest
from fit.small import random_walks, two_kinds, walk
from fit.test_duplicates import turn

from tomnet.fit.dataset import make_dataset
from tomnet.fit.duplicates import digest
from tomnet.fit.split import FOLDS, make_split
from tomnet.support.errors import TomnetError


def agents_in(recordings, part) -> set[str]:
    return {each.agent for each, inside in zip(recordings, part) if inside}


def test_agents_are_in_one_part_each_and_tested_in_one_fold():
    recordings = random_walks(11, 3)
    tested = []
    for fold in range(FOLDS):
        split = make_split(recordings, seed=3, fold=fold)
        parts = [agents_in(recordings, part) for _, part in split.parts()]
        assert split.by == "agent"
        assert sum(map(len, parts)) == len(set.union(*parts)) == 11
        tested += parts[2]
    assert sorted(tested) == sorted({each.agent for each in recordings})


def test_few_agents_are_split_in_the_order_of_time():
    recordings = random_walks(2, 10)
    split = make_split(recordings)
    assert split.by == "episode"
    assert "and not on strangers" in split.told()
    place = split.train * 1 + split.validation * 2 + split.test * 3
    assert place.tolist() == [1] * 6 + [2] * 2 + [3] * 2 + [1] * 6 + [2] * 2 + [3] * 2


@pytest.mark.parametrize("symmetry", [0, 1, 6])
def test_no_copy_crosses_a_split_however_it_is_turned(symmetry):
    recordings = random_walks(10, 4)
    clean = make_split(recordings)
    taken, copied = np.flatnonzero(clean.train)[0], np.flatnonzero(clean.test)[-1]
    copy = turn(symmetry, recordings[taken])
    recordings[copied] = replace(copy, agent=recordings[copied].agent, episode=recordings[copied].episode)
    split = make_split(recordings)
    digests = [{digest(each) for each, inside in zip(recordings, part) if inside} for _, part in split.parts()]
    assert not digests[0] & digests[1] | digests[0] & digests[2] | digests[1] & digests[2]
    assert split.copies == 1
    assert "1 left out as copies" in split.told()
    assert not split.test[copied]


def test_a_single_episode_teaches_nothing():
    with pytest.raises(TomnetError, match="a single episode: it can be watched"):
        make_split([walk("ann", 0, "A")])


def test_too_few_episodes_are_counted():
    with pytest.raises(
        TomnetError, match="4 episodes of 2 agents are too few: a fit needs 10 agents, or an agent with 5"
    ):
        make_split(random_walks(2, 2))


def test_agents_that_do_the_same_in_the_same_mazes_cannot_be_tested():
    same = [replace(each, agent=f"agent-{number}") for number in range(10) for each in random_walks(1, 3)]
    with pytest.raises(TomnetError, match="every episode of the validation part is a copy"):
        make_split(same)


def test_the_order_of_a_dataset_is_that_of_its_agents():
    recordings = two_kinds()
    mixed = [recordings[number] for number in np.random.default_rng(0).permutation(len(recordings))]
    names = [each.agent for each in make_dataset(mixed).recordings]
    assert sum(one != other for one, other in zip(names, names[1:])) == 9
