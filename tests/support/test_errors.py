import pytest

from tomnet.support.errors import BadFile, BadSetting, MissingExtra, TomnetError, nearest, needs_extra


def test_a_bad_setting_names_the_field_the_value_and_the_reason():
    error = BadSetting("World.objects", 200, "only 77 free cells are certain on an 11x11 grid")
    assert str(error) == "World.objects = 200: only 77 free cells are certain on an 11x11 grid"
    assert isinstance(error, TomnetError)


def test_a_bad_file_names_the_path_and_may_offer_a_way_out(tmp_path):
    path = tmp_path / "observer.safetensors"
    assert str(BadFile(path, "empty")) == f"{path}: empty"
    assert str(BadFile(path, "empty", "train it again")) == f"{path}: empty; train it again"


def test_a_near_miss_is_corrected():
    error = nearest("goal-inferense", ["random-policy", "goal-inference"], "experiment")
    assert str(error) == "unknown experiment 'goal-inferense'; did you mean 'goal-inference'?"


def test_a_far_miss_lists_what_there_is():
    error = nearest("chess", ["random-policy", "goal-inference"], "experiment")
    assert str(error) == "unknown experiment 'chess'; known: goal-inference, random-policy"


def test_of_many_the_nearest_few_are_told():
    known = [f"room-{letter}" for letter in "abcdefghijklmnopqrstuvw"]
    told = str(nearest("x-w", known, "observer"))
    assert told.startswith("unknown observer 'x-w'; the nearest of 23: room-w, ")
    assert told.count("room-") == 5


def test_what_begins_alike_is_all_told():
    known = ["goal-inference/2d", "goal-inference/8d", "greedy-agents/greedy"]
    told = "did you mean 'goal-inference/2d' or 'goal-inference/8d'?"
    assert str(nearest("goal-inferenc", known, "observer")) == f"unknown observer 'goal-inferenc'; {told}"
    assert str(nearest("greedy", known, "observer")).endswith("; did you mean 'greedy-agents/greedy'?")


def test_that_options_begin_alike_does_not_make_them_alike():
    assert str(nearest("--observer", ["--seed", "--out"], "option")).endswith("known: --out, --seed")
    assert str(nearest("--sed", ["--seed", "--out"], "option")).endswith("did you mean '--seed'?")


def test_an_unknown_name_among_none():
    assert str(nearest("chess", [], "model")) == "unknown model 'chess'; none is known"


@pytest.mark.parametrize("hostile", ["two\nlines", "red \x1b[31m text", "lone \ud800 surrogate"])
def test_an_error_is_one_printable_line(hostile):
    message = str(BadFile(hostile, "missing"))
    assert message.isprintable()
    message.encode()  # a terminal must be able to take it


def test_a_missing_library_is_named_with_the_extra_that_brings_it():
    with pytest.raises(MissingExtra) as raised, needs_extra("gymnasium"):
        import no_such_library.part  # noqa: F401  # pyright: ignore[reportMissingImports]
    assert str(raised.value) == (
        "no_such_library is not installed; pip install 'tomnet[gymnasium]' brings it, or '.[gymnasium]' in a checkout"
    )
    assert isinstance(raised.value, ImportError)
