"""Minari datasets: read by us alone, and whatever leads out of them, unpacks or runs is refused."""

import json
import sys

import numpy as np
import pytest

from tomnet.recordings.folder import read_recordings
from tomnet.recordings.minari import MOST_EPISODES, is_dataset, read_metadata, read_minari
from tomnet.recordings.minigrid import ACTIONS
from tomnet.recordings.recording import MOST_STEPS, Recording
from tomnet.recordings.scene import Scene
from tomnet.support.errors import MissingExtra, TomnetError

EMPTY, WALL, GOAL, AGENT = (1, 0, 0), (2, 5, 0), (8, 1, 0), 10
BOX = {"type": "Box", "dtype": "uint8", "shape": [4, 3, 3], "low": 0, "high": 255}
DISCRETE = {"type": "Discrete", "dtype": "int64", "start": 0, "n": 7}


def metadata(**changes):
    table = {
        "dataset_id": "minigrid/corridor-v0",
        "total_episodes": 2,
        "data_format": "hdf5",
        "observation_space": json.dumps(BOX),
        "action_space": json.dumps(DISCRETE),
        "env_spec": json.dumps(
            {"id": "MiniGrid-Corridor-v0", "entry_point": "os:system", "kwargs": {"command": "true"}}
        ),
    }
    return {name: value for name, value in (table | changes).items() if value is not ...}


def corridor(col, direction=0):
    """Codes of a corridor with walls around it, a goal at its right end, and the agent: columns first."""
    grid = np.empty((5, 3, 3), np.uint8)
    grid[:] = WALL
    grid[1:4, 1] = EMPTY
    grid[3, 1] = GOAL
    grid[col, 1] = (AGENT, 0, direction)
    return grid


FORWARD, TURN_RIGHT = 2, 1
SEEN = np.stack([corridor(1), corridor(1, 1), corridor(1, 0), corridor(2), corridor(3)])
DONE = np.array([TURN_RIGHT, 0, FORWARD, FORWARD])


@pytest.fixture
def dataset(tmp_path):
    (tmp_path / "corridor" / "data").mkdir(parents=True)
    write_metadata(tmp_path / "corridor")
    return tmp_path / "corridor"


def write_metadata(folder, **changes):
    (folder / "data" / "metadata.json").write_text(json.dumps(metadata(**changes)))


@pytest.fixture
def h5py():
    return pytest.importorskip("h5py", reason="needs the extra: pip install 'tomnet[minari]'")


@pytest.fixture
def file(h5py, dataset):
    """Two episodes, open to be spoilt."""
    with h5py.File(dataset / "data" / "main_data.hdf5", "w") as file:
        for number in range(2):
            group = file.create_group(f"episode_{number}")
            group["observations"], group["actions"] = SEEN, DONE
            group["terminations"] = np.array([False, False, False, True])
        yield file


def read(dataset, file, **options) -> list:
    file.close()
    return list(read_minari(dataset, **options))


def test_a_fully_observed_room(dataset, file):
    known = set(sys.modules)  # other tests may have loaded MiniGrid themselves
    first, second = read(dataset, file)
    assert isinstance(first, Recording)
    assert (first.agent, first.episode, second.episode) == ("minigrid-corridor-v0", "000000", "000001")
    assert first.size == (3, 5)
    assert first.action_names == ACTIONS
    assert first.cells.tolist() == [6, 6, 6, 7, 8]
    assert first.headings is not None
    assert first.headings.tolist() == [1, 2, 1, 1, 1]
    assert first.took == ("G",)
    assert read_recordings(dataset) == (first, second)
    assert read_recordings(dataset.parent) == (first, second)  # among other folders
    assert not {"minari", "minigrid"} & (sys.modules.keys() - known)


def test_a_door_that_the_agent_stands_in_is_still_there(dataset, file):
    door = SEEN.copy()
    door[[0, 1, 2, 4], 2, 1] = (4, 0, 0)  # an open red one, hidden in the fourth picture
    for number in range(2):
        file[f"episode_{number}"]["observations"][...] = door
    first, _ = read(dataset, file)
    assert first.objects == ("D", "G")
    assert first.took == ("G",)
    assert first.object_cells[:, 0].tolist() == [7] * 5


def test_words_in_an_observation_are_let_go(dataset, file, h5py):
    for number in range(2):
        del file[f"episode_{number}"]["observations"]
        group = file[f"episode_{number}"].create_group("observations")
        group["image"], group["direction"] = SEEN, np.zeros(5, int)
        group["mission"] = ["reach the goal"] * 5
    first, _ = read(dataset, file)
    assert first.cells.tolist() == [6, 6, 6, 7, 8]


def test_any_dataset_with_a_look(dataset, file):
    write_metadata(dataset, env_spec=..., observation_space=json.dumps({"type": "Discrete", "n": 16, "start": 0}))
    for number in range(2):
        del file[f"episode_{number}"]["observations"]
        file[f"episode_{number}"]["observations"] = np.array([0, 1, 2, 3, 7])
    lake = np.zeros((4, 4), bool)
    found = read(dataset, file, agent="skater", look=lambda cell: Scene(walls=lake, cell=divmod(int(cell), 4)))
    assert [each.agent for each in found] == ["skater", "skater"]
    assert found[0].cells.tolist() == [0, 1, 2, 3, 7]
    assert found[0].action_names == tuple(f"action-{number}" for number in range(7))


def test_what_nobody_understands_needs_a_look(dataset):
    write_metadata(dataset, env_spec=json.dumps({"id": "CartPole-v1"}))
    (fault,) = read_minari(dataset)
    assert "observations of CartPole-v1, and only MiniGrid's are understood" in str(fault)


def test_without_h5py_the_extra_is_named(dataset, monkeypatch):
    (dataset / "data" / "main_data.hdf5").write_bytes(b"")
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(MissingExtra, match=r"h5py is not installed; pip install 'tomnet\[minari\]' brings it"):
        list(read_minari(dataset))


# --- Metadata


def test_the_environment_is_a_word_and_is_never_built(dataset):
    about = read_metadata(dataset)
    assert (about.env, about.actions, about.episodes) == ("MiniGrid-Corridor-v0", 7, 2)
    assert is_dataset(dataset)
    assert not is_dataset(dataset.parent)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"data_format": 3}, "data_format: expected hdf5, in main_data.hdf5, the only one that is read, found 3"),
        ({"action_space": json.dumps({"type": "Box"})}, "action_space: expected a Discrete space of 1 to 127 actions"),
        ({"action_space": json.dumps(DISCRETE | {"n": 10**9})}, "action_space: expected a Discrete space"),
        ({"action_space": json.dumps(DISCRETE | {"n": "7"})}, "action_space.n: expected a whole number, found '7'"),
        ({"action_space": ...}, "action_space: expected a space written as JSON, found None"),
        ({"action_space": "[" * 100_000}, "not JSON"),
        ({"observation_space": 3}, "observation_space: expected a space written as JSON"),
        ({"total_episodes": -1}, f"total_episodes: expected 0 to {MOST_EPISODES}, found -1"),
        ({"total_episodes": 10**12}, f"total_episodes: expected 0 to {MOST_EPISODES}"),
        ({"total_episodes": None}, "total_episodes: expected a whole number, found None"),
        ({"env_spec": "[]"}, "not a JSON object"),
        ({"env_spec": json.dumps({"id": 3})}, "env_spec: expected JSON with the id of an environment"),
    ],
)
def test_metadata_that_cannot_be(changes, why, dataset):
    write_metadata(dataset, **changes)
    (fault,) = read_minari(dataset)
    assert isinstance(fault, TomnetError)
    assert why in str(fault)
    assert str(dataset) in str(fault)


@pytest.mark.parametrize("said", ["arrow", ...])
@pytest.mark.parametrize("space", [DISCRETE, {"type": "Box"}])  # which would be refused too: the format comes first
def test_arrow_is_refused_in_one_line_whether_the_metadata_say_so_or_not(said, space, dataset):
    write_metadata(dataset, data_format=said, action_space=json.dumps(space))
    (dataset / "data" / "0").mkdir()
    (dataset / "data" / "0" / "part-0.arrow").write_bytes(b"ARROW1")
    with pytest.raises(TomnetError) as refused:
        read_recordings(dataset)
    file = dataset / "data" / "metadata.json"
    why = "data_format: expected hdf5, in main_data.hdf5, the only one that is read, found 'arrow'"
    assert str(refused.value) == f"{file}: {why}"


def test_metadata_without_end(dataset):
    (dataset / "data" / "metadata.json").write_bytes(b" " * 5_000_000)
    (fault,) = read_minari(dataset)
    assert "expected up to 4194304 bytes, found 5000000" in str(fault)


@pytest.mark.parametrize("name", ["metadata.json", "main_data.hdf5"])
def test_links_out_of_the_dataset(name, dataset, tmp_path, h5py):
    (tmp_path / "elsewhere").write_text(json.dumps(metadata()))
    (dataset / "data" / name).unlink(missing_ok=True)
    (dataset / "data" / name).symlink_to(tmp_path / "elsewhere")
    (fault,) = read_minari(dataset)
    assert "is a link that leads out of the folder" in str(fault)


# --- Arrays


def spoil(file, name, data=None, **options):
    del file["episode_0"][name]
    file["episode_0"].create_dataset(name, data=data, **options)


def no_observations(file):
    del file["episode_0"]["observations"]


def soft_link(file, h5py):
    no_observations(file)
    file["episode_0"]["observations"] = h5py.SoftLink("/episode_1/observations")


def external_link(file, h5py):
    no_observations(file)
    file["episode_0"]["observations"] = h5py.ExternalLink("/etc/passwd", "/")


def external_storage(file, h5py):
    no_observations(file)
    places = [("/etc/passwd", 0, 100)]
    file["episode_0"].create_dataset("observations", shape=(100,), dtype="u1", external=places)


def virtual(file, h5py):
    no_observations(file)
    layout = h5py.VirtualLayout(shape=SEEN.shape, dtype="u1")
    layout[...] = h5py.VirtualSource("/tmp/other.h5", "observations", shape=SEEN.shape)
    file["episode_0"].create_virtual_dataset("observations", layout)


def huge(file, h5py):
    no_observations(file)
    file["episode_0"].create_dataset("observations", shape=(5, 10**6, 10**6), dtype="u1", chunks=(1, 100, 100))


def endless(file, h5py):
    spoil(file, "actions", shape=(10**6,), dtype="i8", chunks=(100,))


def nested(file, h5py):
    no_observations(file)
    group = file["episode_0"]
    for name in ("observations", "a", "b", "c", "d"):
        group = group.create_group(name)
    group["image"] = SEEN


def bomb(file, h5py):
    """60 × 60 × 60 × 60 arrays of links to a single one, in a few kilobytes."""
    no_observations(file)
    group, inner = file["episode_0"], file["episode_0"]["actions"]
    for name in ("a", "b", "c", "observations"):
        outer = group.create_group(name)
        for number in range(60):
            outer[f"{number}"] = inner
        inner = outer


HARM = [
    (soft_link, "observations is a link, which may lead out of the file"),
    (external_link, "observations is a link, which may lead out of the file"),
    (external_storage, "is stored in another file"),
    (virtual, "is stored in another file"),
    (huge, "observations: expected up to 64 MiB an episode"),
    (endless, f"expected up to {MOST_STEPS} steps, found shape (1000000,)"),
    (nested, "expected up to 256 arrays, 4 groups deep"),
    (bomb, "expected up to 256 arrays, 4 groups deep"),
    (lambda file, h5py: no_observations(file), "observations: expected it to be there, found none"),
    (lambda file, h5py: spoil(file, "observations", SEEN, compression="gzip"), "is compressed"),
    (lambda file, h5py: spoil(file, "observations", ["words"] * 5), "does not hold numbers"),
    (
        lambda file, h5py: spoil(file, "observations", SEEN[:3]),
        "observations: expected one more than there are actions",
    ),
    (lambda file, h5py: spoil(file, "actions", DONE[:2]), "observations: expected one more than there are actions"),
    (lambda file, h5py: spoil(file, "terminations", [False]), "terminations: expected as many as there are actions"),
    (lambda file, h5py: spoil(file, "terminations", [0, 0, 0, np.nan]), "terminations: expected true or false"),
    (lambda file, h5py: spoil(file, "observations", np.full(SEEN.shape, np.nan)), "observation: expected codes"),
    (lambda file, h5py: spoil(file, "actions", [1.0, np.nan, 0, 0]), "actions: expected whole numbers, one a step"),
    (lambda file, h5py: spoil(file, "actions", [1, 0, 2, 9]), "actions: expected numbers between 0 and 6, found 9"),
    (lambda file, h5py: spoil(file, "actions", [[1], [0]]), "actions: expected whole numbers, one a step"),
]


@pytest.mark.parametrize(("spoil", "why"), HARM, ids=[why[:45] for _, why in HARM])
def test_arrays_that_mean_harm_are_refused(spoil, why, dataset, file, h5py):
    spoil(file, h5py)
    found = read(dataset, file)
    assert isinstance(found[0], TomnetError)
    assert why in str(found[0])
    assert "\n" not in str(found[0])


def test_one_bad_episode_leaves_the_others_readable(dataset, file):
    spoil(file, "actions", [1, 0, 2, 9])
    first, second = read(dataset, file)
    assert "main_data.hdf5: episode 0: actions" in str(first)
    assert isinstance(second, Recording)


def test_one_episode_that_is_not_all_there_leaves_the_others_readable(dataset, file):
    no_observations(file)
    first, second = read(dataset, file)
    assert "main_data.hdf5: episode 0: observations: expected it to be there" in str(first)
    assert isinstance(second, Recording)


@pytest.mark.parametrize("said", [1, 3])
def test_more_or_fewer_episodes_than_the_metadata_say(said, dataset, file):
    write_metadata(dataset, total_episodes=said)
    *episodes, fault = read(dataset, file)
    assert [type(each) for each in episodes] == [Recording, Recording]
    assert f"total_episodes: expected 2, as many episodes as main_data.hdf5 holds, found {said}" in str(fault)


def test_a_file_that_is_no_hdf5(dataset, h5py):
    (dataset / "data" / "main_data.hdf5").write_bytes(b"\x80\x04 a pickle")
    (fault,) = read_minari(dataset)
    assert "cannot be read as HDF5" in str(fault)
