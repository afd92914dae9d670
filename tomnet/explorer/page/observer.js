/* An observer in a page: snapshots of an agent's past and a query state → what the agent will do.
 *
 *   const observer = TomnetObserver.create(TOMNET_OBSERVER);
 *   const seen = snapshots.map(observer.embed);       // each once: embeddings can be kept
 *   const { character, action, consumption, successor } = observer.ask(seen, state);
 *
 * A state is { walls: rows of booleans, agent_cell, object_cells }, a snapshot has an `action` too; a cell is
 * row * size + col, and the cell of an absent object is -1: the fields of Python's QueryState and Snapshot. What cannot
 * be read is refused with a RangeError whose message is a sentence for people.
 */
const TomnetObserver = (() => {
  "use strict";

  const VERSION = 1;
  const ABSENT = -1;
  const LARGEST = 1e6; // of an embedding's numbers: far beyond it sums would overflow, and the answer be NaN

  function check(holds, sentence) {
    if (!holds) throw new RangeError(sentence);
  }

  // --- Weights

  /** Little-endian float32 in base64, as float64: JavaScript computes in it, and the inner loops need not convert. */
  function decode(text) {
    const letters = atob(text);
    const bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; i++) bytes[i] = letters.charCodeAt(i);
    check(bytes.length % 4 === 0, "The observer's weights are cut short.");
    return new Float64Array(new Float32Array(bytes.buffer)); // no browser runs on a big-endian machine
  }

  /** By the name of each layer, its arrays: { kernel | weight, bias }. */
  function readLayers({ arrays, weights }) {
    const numbers = decode(weights);
    const layers = {};
    let next = 0;
    for (const [name, shape] of Object.entries(arrays)) {
      const count = shape.reduce((product, length) => product * length, 1);
      const dot = name.lastIndexOf(".");
      (layers[name.slice(0, dot)] ??= {})[name.slice(dot + 1)] = numbers.slice(next, (next += count));
    }
    check(next === numbers.length, "The observer's weights do not fit its arrays.");
    return layers;
  }

  // --- Layers; maps are [row, col, channel], flat

  function dense(features, { weight, bias }) {
    const outputs = bias.length;
    return bias.map((start, o) => features.reduce((sum, value, i) => sum + value * weight[i * outputs + o], start));
  }

  /** A 3×3 convolution that keeps the size of the map: what lies off the grid counts as zero. */
  function convolve(maps, size, { kernel, bias }) {
    const cells = size * size;
    const near = neighbourhood(maps.length / cells, bias.length);
    const result = new Float64Array(cells * bias.length);
    const sums = new Float64Array(bias.length);
    for (let cell = 0; cell < cells; cell++) {
      gather(near, maps, size, cell);
      sums.set(bias);
      addRows(sums, kernel, near);
      result.set(sums, cell * bias.length);
    }
    return result;
  }

  /** Space for the values around a cell that are not zero, and where the kernel's row for each begins. */
  function neighbourhood(width, outputs) {
    return { width, outputs, count: 0, values: new Float64Array(9 * width + 3), rows: new Int32Array(9 * width + 3) };
  }

  /** Half of what follows a ReLU is zero, and left out. */
  function gather(near, maps, size, cell) {
    const { width, outputs, values, rows } = near;
    const row = Math.floor(cell / size);
    const col = cell % size;
    let count = 0;
    for (let r = Math.max(row - 1, 0); r <= Math.min(row + 1, size - 1); r++) {
      for (let c = Math.max(col - 1, 0); c <= Math.min(col + 1, size - 1); c++) {
        const from = (r * size + c) * width;
        const tap = ((r - row + 1) * 3 + (c - col + 1)) * width;
        for (let i = 0; i < width; i++) {
          if (maps[from + i] === 0) continue;
          values[count] = maps[from + i];
          rows[count++] = (tap + i) * outputs;
        }
      }
    }
    values.fill(0, count, count + 3);
    near.count = count;
  }

  /** Adds each value times its row of the kernel; four at a time, which takes half as long as one by one. */
  function addRows(sums, kernel, { values, rows, count, outputs }) {
    for (let k = 0; k < count; k += 4) {
      const a = values[k], b = values[k + 1], c = values[k + 2], d = values[k + 3];
      const p = rows[k], q = rows[k + 1], r = rows[k + 2], s = rows[k + 3];
      for (let o = 0; o < outputs; o++) {
        sums[o] += a * kernel[p + o] + b * kernel[q + o] + c * kernel[r + o] + d * kernel[s + o];
      }
    }
  }

  function relu(values) {
    return values.map((value) => Math.max(value, 0));
  }

  /** The first convolution widens, the others come in residual pairs. */
  function resnet(maps, size, layers) {
    let features = relu(convolve(maps, size, layers[0]));
    for (let i = 1; i < layers.length; i += 2) {
      const inner = relu(convolve(features, size, layers[i]));
      const change = convolve(inner, size, layers[i + 1]);
      features = relu(change.map((value, j) => features[j] + value));
    }
    return features;
  }

  /** The average over the map, and beside it the features at the agent's own cell. */
  function pooled(features, size, agentCell) {
    const cells = size * size;
    const width = features.length / cells;
    const result = new Float64Array(2 * width);
    features.forEach((value, i) => (result[i % width] += value / cells));
    result.set(features.subarray(agentCell * width, (agentCell + 1) * width), width);
    return result;
  }

  function softmax(logits) {
    const most = Math.max(...logits);
    const weights = Array.from(logits, (logit) => Math.exp(logit - most));
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return weights.map((weight) => weight / total);
  }

  function sigmoid(logits) {
    return Array.from(logits, (logit) => 1 / (1 + Math.exp(-logit)));
  }

  // --- What comes from outside

  function isCell(value, size) {
    return Number.isInteger(value) && value >= 0 && value < size * size;
  }

  function isSquare(rows, size) {
    const all = Array.isArray(rows) && rows.length === size && rows.every((row) => row?.length === size);
    return all && rows.flat().length === size * size; // `every` passes over holes, and `flat` leaves them out
  }

  function checkState(state, size, objects) {
    const { walls, agent_cell: agentCell, object_cells: objectCells } = state ?? {};
    const last = size * size - 1;
    check(isSquare(walls, size), `The level must be square: ${size} rows of ${size} cells.`);
    const blocked = walls.flat();
    check(blocked.every((wall) => typeof wall === "boolean"), "Each cell is a wall or not: true or false.");
    check(isCell(agentCell, size), `The agent's cell must be a whole number between 0 and ${last}.`);
    check(!blocked[agentCell], "The agent stands in a wall.");
    const all = Array.isArray(objectCells) && objectCells.length === objects.length;
    check(all, `There must be a cell for each of ${objects.join(", ")}; ${ABSENT} stands for an absent one.`);
    objects.forEach((name, i) => {
      const there = objectCells[i] !== ABSENT;
      const inside = isCell(objectCells[i], size);
      check(inside || !there, `The cell of ${name} must lie between 0 and ${last}, or be ${ABSENT}.`);
      check(!there || !blocked[objectCells[i]], `${name} lies in a wall.`);
    });
  }

  function checkEmbeddings(embeddings, dimensions, most) {
    check(Array.isArray(embeddings), "What was seen must be a list of embeddings, one of each snapshot.");
    check(embeddings.length <= most, `At most ${most} snapshots can be read, and here are ${embeddings.length}.`);
    const good = (value) => Number.isFinite(value) && Math.abs(value) <= LARGEST;
    const point = (each) => each?.length === dimensions && Array.from(each).every(good);
    check(Array.from(embeddings).every(point), `Each embedding must be ${dimensions} numbers between ±${LARGEST}.`);
  }

  /** The walls, a plane for each object, the agent; beside them a vector, the same on every cell. */
  function planesOf(state, vector) {
    const width = 2 + state.object_cells.length + vector.length;
    const walls = state.walls.flat();
    const planes = new Float64Array(walls.length * width);
    walls.forEach((wall, cell) => {
      planes[cell * width] = wall ? 1 : 0;
      planes.set(vector, (cell + 1) * width - vector.length);
    });
    [...state.object_cells, state.agent_cell].forEach((cell, i) => {
      if (cell !== ABSENT) planes[cell * width + 1 + i] = 1;
    });
    return planes;
  }

  // --- The observer

  /** The nets as lists of layers, beside the numbers and names that describe the observer. */
  function readObserver(data) {
    const layers = readLayers(data);
    const resnetOf = (net, depth) => Array.from({ length: depth }, (_, i) => layers[`${net}.resnet.layers[${i}]`]);
    const characterNet = resnetOf("character_net", data.character_depth);
    return { ...data, layers, characterNet, torso: resnetOf("prediction_net.torso", data.torso_depth) };
  }

  /** The character net: what one snapshot tells of its agent. */
  function characterise({ size, actions, layers, characterNet }, snapshot) {
    const taken = actions.map((_, action) => (action === snapshot.action ? 1 : 0));
    const features = resnet(planesOf(snapshot, taken), size, characterNet);
    return Array.from(dense(pooled(features, size, snapshot.agent_cell), layers["character_net.dense"]));
  }

  /** The prediction net: a shared torso, and a head for each prediction. */
  function predict({ size, discounts, layers, torso }, character, state) {
    const features = resnet(planesOf(state, character), size, torso);
    const pooledHead = (head) => {
      const maps = relu(convolve(features, size, layers[`${head}.convolution`]));
      return dense(pooled(maps, size, state.agent_cell), layers[`${head}.dense`]);
    };
    const inner = relu(convolve(features, size, layers["prediction_net.successor.first"]));
    const maps = convolve(inner, size, layers["prediction_net.successor.second"]);
    return {
      action: softmax(pooledHead("prediction_net.action")),
      consumption: sigmoid(pooledHead("prediction_net.consumption")),
      successor: discounts.map((_, gamma) => softmax(maps.filter((_, i) => i % discounts.length === gamma))),
    };
  }

  function create(data) {
    check(data?.version === VERSION, `This page reads observers of version ${VERSION}, and this is none.`);
    const observer = readObserver(data);
    const { name, size, actions, objects, discounts, embedding, max_past } = data;

    function embed(snapshot) {
      checkState(snapshot, size, objects);
      const known = Number.isInteger(snapshot.action) && snapshot.action in actions;
      check(known, `The action must be a number between 0 and ${actions.length - 1}: ${actions.join(", ")}.`);
      return characterise(observer, snapshot);
    }

    /** Embeddings add up to the character; that of an agent never seen is zero. */
    function ask(embeddings, state) {
      checkEmbeddings(embeddings, embedding, max_past);
      checkState(state, size, objects);
      const nothing = new Array(embedding).fill(0);
      const character = embeddings.reduce((sum, each) => sum.map((value, i) => value + each[i]), nothing);
      return { character, ...predict(observer, character, state) };
    }

    return { name, size, actions, objects, discounts, max_past, embed, ask };
  }

  return { create };
})();
