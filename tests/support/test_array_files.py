"""Array files under attack: kills, full disks, flipped bits, foreign formats."""

import errno
import math
import os
import pickle
import random
import signal
from pathlib import Path

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy
from support.processes import python

from tomnet.support.array_files import load_arrays, save_arrays, stored_format
from tomnet.support.errors import BadFile, TomnetError
from tomnet.support.run_lock import RunLock

KIND = ("test-weights", 1)
ARRAYS = {"weights": np.arange(12, dtype=np.float32).reshape(3, 4), "steps": np.array(7)}
HEADER = {"species": "planner", "step": 100}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "observer.safetensors"
    save_arrays(path, ARRAYS, HEADER, *KIND)
    return path


def refusal(path):
    with pytest.raises(BadFile) as caught:
        load_arrays(path, *KIND)
    assert str(path) in str(caught.value)
    return str(caught.value)


def only_file(path):
    return [file.name for file in path.parent.iterdir()] == [path.name]


# --- Round trips


@pytest.mark.parametrize(
    "array",
    [
        np.array(3.5),
        np.zeros((0, 4), np.int8),
        np.array([True, False]),
        np.arange(6).reshape(2, 3).T,
        np.array([1, 2], ">i4"),
        np.array([np.nan, -np.inf, -0.0], np.float16),
        np.array([1 + 2j], np.complex64),
        np.array([2**64 - 1], np.uint64),
        np.array([0.1, 1e30], ml_dtypes.bfloat16),
        jnp.array([0.1, 1e30], jnp.bfloat16),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_every_kind_of_array_comes_back(tmp_path, array):
    save_arrays(tmp_path / "a", {"array": array}, {}, *KIND)
    loaded = load_arrays(tmp_path / "a", *KIND)[0]["array"]
    assert loaded.dtype == np.asarray(array).dtype.newbyteorder("=")
    assert loaded.shape == array.shape
    np.testing.assert_array_equal(loaded, np.asarray(array))


@pytest.mark.parametrize("dtype", [object, "U3", np.complex128, ml_dtypes.float8_e4m3fn])
def test_what_could_not_be_loaded_is_not_saved(tmp_path, dtype):
    with pytest.raises(TypeError, match="array is"):
        save_arrays(tmp_path / "a", {"array": np.zeros(2, dtype)}, {}, *KIND)
    assert not list(tmp_path.iterdir())


def test_the_header_comes_back(tmp_path):
    header = {"name": 'é\n"\\', "best": math.inf, "nested": {"sizes": [1, 2]}, "numpy": np.float32(0.5)}
    save_arrays(tmp_path / "a", {}, header, *KIND)
    assert load_arrays(tmp_path / "a", *KIND) == ({}, header)


def test_a_header_length_that_starts_like_a_pickle_is_fine(tmp_path):
    for padding in range(1000):
        save_arrays(tmp_path / "a", {}, {"padding": "x" * padding}, *KIND)
        if (tmp_path / "a").read_bytes().startswith(b"\x80\x02"):
            load_arrays(tmp_path / "a", *KIND)
            return
    pytest.fail("no header of 640 bytes came up")


def test_equal_contents_give_equal_bytes(saved):
    code = """
import sys, numpy as np
from tomnet.support.array_files import save_arrays
arrays = {"steps": np.array(7), "weights": np.arange(12, dtype=np.float32).reshape(3, 4)}
save_arrays(sys.argv[1], arrays, {"species": "planner", "step": 100}, "test-weights", 1)
"""
    twin = saved.with_name("twin")
    python(code, twin)
    assert twin.read_bytes() == saved.read_bytes()


def test_any_safetensors_reader_can_read_it(saved):
    np.testing.assert_array_equal(safetensors.numpy.load_file(saved)["weights"], ARRAYS["weights"])


# --- Refusals


def test_every_flipped_bit_is_refused(saved):
    whole = saved.read_bytes()
    bits = random.Random(0)
    for position in range(len(whole)):
        flipped = bytearray(whole)
        flipped[position] ^= 1 << bits.randrange(8)
        saved.write_bytes(flipped)
        refusal(saved)


def test_every_truncation_is_refused(saved):
    whole = saved.read_bytes()
    for length in range(len(whole)):
        saved.write_bytes(whole[:length])
        refusal(saved)
    assert f"truncated: {len(whole) - 1} of {len(whole)} bytes" in refusal(saved)


def test_a_file_cut_inside_its_header_does_not_say_how_long_it_was(saved):
    whole = saved.read_bytes()
    header = 8 + int.from_bytes(whole[:8], "little")
    for length in (9, 20, 100, header - 1):
        saved.write_bytes(whole[:length])
        assert refusal(saved).endswith(f"truncated: {length} bytes are there, and its header alone has {header}")
    saved.write_bytes(whole[:header])
    assert f"truncated: {header} of {len(whole)} bytes" in refusal(saved)


def test_added_bytes_are_refused(saved):
    saved.write_bytes(saved.read_bytes() + b"\0")
    assert "checksum" in refusal(saved)


def test_what_is_wrong_is_said(saved, tmp_path):
    assert "no such file" in refusal(tmp_path / "missing")
    assert "not a file" in refusal(tmp_path)
    saved.write_bytes(b"")
    assert "empty" in refusal(saved)
    saved.write_bytes(b"hello, I am a text file")
    assert "not a tomnet file" in refusal(saved)
    safetensors.numpy.save_file(ARRAYS, saved)
    assert "did not write" in refusal(saved)
    with saved.open("wb") as file:
        np.savez(file, **ARRAYS)
    assert "zip archive" in refusal(saved)
    with saved.open("wb") as file:
        np.save(file, ARRAYS["weights"])
    assert ".npy" in refusal(saved)


def test_another_format_or_version_is_refused(tmp_path):
    save_arrays(tmp_path / "a", ARRAYS, HEADER, "episodes", 1)
    assert "holds 'episodes', not 'test-weights'" in refusal(tmp_path / "a")
    save_arrays(tmp_path / "a", ARRAYS, HEADER, "test-weights", 2)
    assert refusal(tmp_path / "a").endswith("test-weights version 2; this tomnet reads version 1")
    save_arrays(tmp_path / "a", ARRAYS, HEADER, "test-weights", 0)
    assert "version 0; this tomnet reads version 1; an earlier tomnet wrote it" in refusal(tmp_path / "a")


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_never_run(tmp_path, protocol):
    class Bomb:
        def __reduce__(self):
            return Path.touch, (tmp_path / "boom",)

    path = tmp_path / "weights.pkl"
    path.write_bytes(pickle.dumps(Bomb(), protocol=protocol))
    message = refusal(path)
    assert protocol < 2 or "a pickle" in message
    assert not (tmp_path / "boom").exists()


@pytest.mark.parametrize(
    "metadata",
    [
        '{"sha256":"%s"}',
        '{"sha256":"%s","format":"test-weights","version":1,"header":[]}',
        '{"sha256":"%s"' + "[" * 9999,
    ],
)
def test_a_right_checksum_over_nonsense_is_refused(tmp_path, metadata):
    from tomnet.support.array_files import DIGEST, NO_DIGEST, _digest

    raw = bytearray(safetensors.numpy.save({}, metadata={"tomnet": metadata % NO_DIGEST.decode()}))
    raw[DIGEST] = _digest(raw)
    (tmp_path / "a").write_bytes(raw)
    assert "the checksum is right but" in refusal(tmp_path / "a")


# --- The previous copy


def damage(path):
    whole = bytearray(path.read_bytes())
    whole[-1] ^= 1
    path.unlink()  # a new file: writing in place would also damage a hard link
    path.write_bytes(whole)


def test_the_previous_copy_is_kept_and_offered(saved):
    save_arrays(saved, ARRAYS, {"step": 200}, *KIND, keep_previous=True)
    previous = saved.with_name("observer.safetensors.previous")
    assert load_arrays(saved, *KIND)[1]["step"] == 200
    assert load_arrays(previous, *KIND)[1]["step"] == 100
    damage(saved)
    assert f"an intact earlier copy is {previous}" in refusal(saved)
    damage(previous)
    assert "earlier copy" not in refusal(saved)


def test_a_damaged_file_does_not_push_out_the_good_copy(saved):
    save_arrays(saved, ARRAYS, {"step": 200}, *KIND, keep_previous=True)
    damage(saved)
    save_arrays(saved, ARRAYS, {"step": 300}, *KIND, keep_previous=True)
    assert load_arrays(saved, *KIND)[1]["step"] == 300
    assert load_arrays(saved.with_name("observer.safetensors.previous"), *KIND)[1]["step"] == 100


def test_without_hard_links_the_previous_copy_is_a_copy(saved, monkeypatch):
    def no_links(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", no_links)
    save_arrays(saved, ARRAYS, {"step": 200}, *KIND, keep_previous=True)
    assert load_arrays(saved.with_name("observer.safetensors.previous"), *KIND)[1]["step"] == 100


# --- Kills and full disks


@pytest.mark.parametrize("step", ["fsync", "replace"])
@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_failed_write_leaves_the_old_file_and_no_litter(saved, monkeypatch, step, number):
    def fail(*_):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(TomnetError, match=f"^cannot write {saved}: {os.strerror(number)}$"):
        save_arrays(saved, ARRAYS, {"step": 200}, *KIND)
    assert load_arrays(saved, *KIND)[1] == HEADER
    assert only_file(saved)


def test_a_file_that_outgrows_the_disk_leaves_the_old_one(saved):
    code = """
import resource, sys, numpy as np
from tomnet.support.errors import TomnetError
from tomnet.support.array_files import save_arrays
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    save_arrays(sys.argv[1], {"weights": np.zeros(10_000)}, {}, "test-weights", 1)
except TomnetError as error:
    print(error)
"""
    assert python(code, saved).stdout == f"cannot write {saved}: {os.strerror(errno.EFBIG)}\n"
    assert load_arrays(saved, *KIND)[1] == HEADER
    assert only_file(saved)


@pytest.mark.parametrize("instant", ["os.fsync", "os.link", "os.replace"])
@pytest.mark.parametrize("call", [1, 2])
def test_a_kill_at_any_instant_leaves_a_whole_file(saved, instant, call):
    code = """
import os, signal, sys, numpy as np
from tomnet.support.array_files import save_arrays
path, instant, call = sys.argv[1], sys.argv[2].removeprefix("os."), int(sys.argv[3])
real, calls = getattr(os, instant), []
def killed(*args):
    calls.append(args)
    if len(calls) == call:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*args)
setattr(os, instant, killed)
save_arrays(path, {}, {"step": 200}, "test-weights", 1, keep_previous=True)
"""
    ended = python(code, saved, instant, call)
    assert ended.returncode == (0 if (instant, call) == ("os.link", 2) else -signal.SIGKILL), ended.stderr
    assert load_arrays(saved, *KIND)[1]["step"] in (100, 200)
    with RunLock(saved.parent):  # the next run clears what the killed one left behind
        assert not [file for file in saved.parent.iterdir() if file.name.endswith(".tomnet-tmp")]


def test_an_interrupt_leaves_no_litter(saved, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        save_arrays(saved, ARRAYS, {"step": 200}, *KIND)
    assert only_file(saved)


# --- Before it is read


def test_a_file_says_what_it_holds_before_it_is_read(tmp_path):
    save_arrays(tmp_path / "a", {"x": np.zeros(3)}, {}, "tomnet test", 1)
    assert stored_format(tmp_path / "a") == "tomnet test"
    for other in (b"", b"\x80\x04", b"\xff" * 100, b"\x08" + b"\0" * 7 + b"{}      "):
        (tmp_path / "b").write_bytes(other)
        assert stored_format(tmp_path / "b") == ""
    with pytest.raises(BadFile, match="no such file"):
        stored_format(tmp_path / "c")
