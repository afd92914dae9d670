"""The layers of appendix A, against plain numpy."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from tomnet.observer.convolution import convolve
from tomnet.observer.layers import (
    BatchNorm,
    ConvLSTM,
    Convolution,
    Dense,
    LayerNorm,
    NoNorm,
    NormalisedConvolution,
    ResNet,
    masked_moments,
    normalisation,
    pooled,
    pooled_width,
)

RANDOM = np.random.default_rng(0)
FRAMES = RANDOM.normal(2.0, 3.0, (6, 4, 5, 3)).astype(np.float32)  # rows and cols differ, on purpose
REAL = np.array([True, False, True, True, False, True])


def call(layer, *args):
    return eqx.filter_jit(lambda layer, *args: layer(*args))(layer, *args)


def convolved(frames: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """A 3×3 convolution with zeros around the map."""
    padded = np.pad(frames, ((0, 0), (1, 1), (1, 1), (0, 0)))
    rows, cols = frames.shape[1:3]
    shifts = [(i, j) for i in range(3) for j in range(3)]
    return sum(padded[:, i : i + rows, j : j + cols] @ kernel[i, j] for i, j in shifts)


def sigmoid(values: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-values))


# --- Convolutions


def test_a_convolution_sums_over_the_three_by_three_neighbourhood():
    kernel = RANDOM.normal(size=(3, 3, 3, 2)).astype(np.float32)
    assert np.allclose(convolve(jnp.asarray(FRAMES), jnp.asarray(kernel)), convolved(FRAMES, kernel), atol=1e-4)


def test_a_convolution_can_shift_a_map_and_keeps_rows_and_cols_apart():
    """A kernel with a one above its centre moves everything down by a row."""
    kernel = np.zeros((3, 3, 1, 1), np.float32)
    kernel[0, 1] = 1
    frames = RANDOM.normal(size=(2, 4, 5, 1)).astype(np.float32)
    shifted = np.asarray(convolve(jnp.asarray(frames), jnp.asarray(kernel)))
    assert np.allclose(shifted[:, 1:], frames[:, :-1])
    assert (shifted[:, 0] == 0).all()


def test_a_convolution_adds_its_bias():
    layer = Convolution(3, 2, key=jax.random.key(0))
    layer = eqx.tree_at(lambda layer: layer.bias, layer, jnp.array([1.0, -2.0]))
    expected = convolved(FRAMES, np.asarray(layer.kernel)) + [1.0, -2.0]
    assert np.allclose(layer(jnp.asarray(FRAMES)), expected, atol=1e-4)


def test_a_dense_layer_is_a_matrix_and_a_bias():
    layer = eqx.tree_at(lambda layer: layer.bias, Dense(3, 2, key=jax.random.key(0)), jnp.array([1.0, -2.0]))
    values = FRAMES[:, 0, 0]
    assert np.allclose(layer(jnp.asarray(values)), values @ np.asarray(layer.weight) + [1.0, -2.0], atol=1e-5)


def test_a_convolutional_lstm_step():
    layer = ConvLSTM(3, 2, key=jax.random.key(0))
    hidden, cell = (RANDOM.normal(size=(6, 4, 5, 2)).astype(np.float32) for _ in range(2))
    gates = convolved(np.concatenate([FRAMES, hidden], -1), np.asarray(layer.gates.kernel))
    write, forget, read, value = np.split(gates + np.asarray(layer.gates.bias), 4, -1)
    expected_cell = sigmoid(forget) * cell + sigmoid(write) * np.tanh(value)
    expected_hidden = sigmoid(read) * np.tanh(expected_cell)
    new_hidden, new_cell = call(layer, jnp.asarray(FRAMES), (jnp.asarray(hidden), jnp.asarray(cell)))
    assert np.allclose(new_hidden, expected_hidden, atol=1e-4)
    assert np.allclose(new_cell, expected_cell, atol=1e-4)


def test_a_convolutional_lstm_starts_blank_and_remembers():
    layer = ConvLSTM(3, 2, key=jax.random.key(0))
    hidden, cell = layer.blank(6, 5, jnp.float32)
    assert hidden.shape == cell.shape == (6, 5, 5, 2)
    assert not np.asarray(hidden).any()
    assert np.asarray(layer.gates.bias).tolist() == [0, 0, 1, 1, 0, 0, 0, 0]


# --- Normalisation


def test_training_normalises_by_the_moments_of_the_real_frames():
    norm = BatchNorm(3)
    norm = eqx.tree_at(lambda n: (n.scale, n.shift), norm, (jnp.array([1.0, 2.0, 3.0]), jnp.array([0.0, 1.0, -1.0])))
    frames, _ = call(norm, jnp.asarray(FRAMES), jnp.asarray(REAL), True)
    mean, variance = FRAMES[REAL].mean((0, 1, 2)), FRAMES[REAL].var((0, 1, 2))
    expected = (FRAMES - mean) / np.sqrt(variance + 1e-5) * [1, 2, 3] + [0, 1, -1]
    assert np.allclose(frames, expected, atol=1e-4)


def test_the_first_batch_sets_the_running_moments_and_later_ones_are_averaged():
    other = RANDOM.normal(-1.0, 0.5, FRAMES.shape).astype(np.float32)
    _, once = call(BatchNorm(3), jnp.asarray(FRAMES), jnp.asarray(REAL), True)
    assert np.allclose(once.running_mean, FRAMES[REAL].mean((0, 1, 2)), atol=1e-5)
    assert np.allclose(once.running_variance, FRAMES[REAL].var((0, 1, 2)), atol=1e-4)
    _, twice = call(once, jnp.asarray(other), jnp.asarray(REAL), True)
    assert np.allclose(twice.running_mean, (once.running_mean + other[REAL].mean((0, 1, 2))) / 2, atol=1e-5)
    assert np.allclose(twice.running_variance, (once.running_variance + other[REAL].var((0, 1, 2))) / 2, atol=1e-4)


def test_running_moments_converge_to_those_of_the_data():
    @eqx.filter_jit
    def many(norm: BatchNorm, batches) -> BatchNorm:
        def look(norm, frames):
            return norm(frames, jnp.asarray(REAL), True)[1], None

        return jax.lax.scan(look, norm, batches)[0]

    batches = RANDOM.normal([5.0, -3.0, 0.0], [2.0, 0.5, 1.0], (400, *FRAMES.shape)).astype(np.float32)
    norm = many(BatchNorm(3), jnp.asarray(batches))
    assert np.allclose(norm.running_mean, [5, -3, 0], atol=0.1)
    assert np.allclose(norm.running_variance, [4, 0.25, 1], rtol=0.05)
    assert float(norm.updates) == 400


def test_inference_uses_the_running_moments_only():
    norm = eqx.tree_at(
        lambda n: (n.running_mean, n.running_variance),
        BatchNorm(3),
        (jnp.array([1.0, 2.0, 3.0]), jnp.array([4.0, 9.0, 16.0])),
    )
    frames, same = call(norm, jnp.asarray(FRAMES), jnp.asarray(REAL), False)
    assert np.allclose(frames, (FRAMES - [1, 2, 3]) / np.sqrt([4.00001, 9.00001, 16.00001]), atol=1e-5)
    assert eqx.tree_equal(same, norm)


def test_moments_are_right_far_from_zero():
    """In one pass, a mean of 1000 would leave nothing of a variance of 1 but rounding."""
    far = jnp.asarray(FRAMES - FRAMES.mean() + 1000.0)
    mean, variance = jax.jit(masked_moments)(far, jnp.asarray(REAL), jnp.full(3, 999.0))
    assert np.allclose(mean, np.asarray(far, np.float64)[REAL].mean((0, 1, 2)), rtol=1e-6)
    assert np.allclose(variance, np.asarray(far, np.float64)[REAL].var((0, 1, 2)), rtol=1e-3)


def test_layer_normalisation_looks_at_each_frame_by_itself():
    frames, same = call(LayerNorm(3), jnp.asarray(FRAMES), jnp.asarray(REAL), True)
    mean, variance = FRAMES.mean((1, 2, 3), keepdims=True), FRAMES.var((1, 2, 3), keepdims=True)
    assert np.allclose(frames, (FRAMES - mean) / np.sqrt(variance + 1e-5), atol=1e-4)
    assert eqx.tree_equal(same, LayerNorm(3))


def test_without_normalisation_frames_stay_as_they_are():
    frames, _ = NoNorm()(jnp.asarray(FRAMES), jnp.asarray(REAL), True)
    assert np.array_equal(frames, FRAMES)


@pytest.mark.parametrize(("kind", "layer"), [("batch", BatchNorm), ("layer", LayerNorm), ("none", NoNorm)])
def test_each_normalisation_has_its_name(kind, layer):
    assert isinstance(normalisation(kind, 4), layer)
    convolution = NormalisedConvolution(3, 4, kind, key=jax.random.key(0)).convolution
    assert (convolution.bias is None) == (kind == "batch")  # batch-norm would take it out again


# --- Residuals


def test_a_resnet_is_a_convolution_and_then_residual_pairs():
    net = ResNet(3, 2, 5, "none", key=jax.random.key(0))
    features, _ = call(net, jnp.asarray(FRAMES), jnp.asarray(REAL), True)
    kernels = [np.asarray(layer.convolution.kernel) for layer in net.layers]
    expected = np.maximum(convolved(FRAMES, kernels[0]), 0)
    for first, second in (kernels[1:3], kernels[3:5]):
        inner = np.maximum(convolved(expected, first), 0)
        expected = np.maximum(expected + convolved(inner, second), 0)
    assert np.allclose(features, expected, atol=1e-3)


def test_a_resnet_in_training_normalises_every_layer():
    net = ResNet(3, 2, 3, "batch", key=jax.random.key(0))
    _, moved = call(net, jnp.asarray(FRAMES), jnp.asarray(REAL), True)
    first = convolved(FRAMES, np.asarray(net.layers[0].convolution.kernel))[REAL]
    assert np.allclose(moved.layers[0].norm.running_mean, first.mean((0, 1, 2)), atol=1e-4)
    assert np.allclose(moved.layers[0].norm.running_variance, first.var((0, 1, 2)), rtol=1e-3)
    assert [float(layer.norm.updates) for layer in moved.layers] == [1, 1, 1]


# --- Read-outs


def most_beside(frame: np.ndarray, row: int, col: int) -> np.ndarray:
    """The most above, below, left and right of a cell, on all that side and in a beam of three; -1 where it ends."""
    rows, cols = np.indices(frame.shape[:2])
    sides = [(rows < row, cols, col), (rows > row, cols, col), (cols < col, rows, row), (cols > col, rows, row)]
    masks = [mask for side, across, at in sides for mask in (side, side & (abs(across - at) <= 1))]
    return np.concatenate([frame[mask].max(0, initial=-1) for mask in masks])


def test_directions_are_read_out_beside_the_average_and_the_own_cell():
    frames, cells = abs(RANDOM.normal(size=(5, 4, 4, 3))).astype(np.float32), np.array([0, 5, 11, 14, 3])
    read = np.asarray(pooled(jnp.asarray(frames), jnp.asarray(cells), "directions"))
    assert read.shape[1] == pooled_width(3, "directions")
    assert np.allclose(read[:, :6], pooled(jnp.asarray(frames), jnp.asarray(cells), "agent"))
    expected = [most_beside(frame, *divmod(cell, 4)) for frame, cell in zip(frames, cells.tolist())]
    assert np.allclose(read[:, 6:], expected)
