"use strict";
/* Levels and what is said of them, drawn as SVG in the units of a cell. */
(function (tomnet) {
  const { SIZE, MOVES, rowCol, distance } = tomnet.level;
  const NAMESPACE = "http://www.w3.org/2000/svg";
  const STAR = Array.from({ length: 10 }, (_, point) => {
    const angle = (point * Math.PI) / 5 - Math.PI / 2, radius = point % 2 ? 0.17 : 0.42;
    return [Math.cos(angle) * radius, Math.sin(angle) * radius];
  });

  function element(name, attributes = {}, text = null) {
    const made = document.createElementNS(NAMESPACE, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text !== null) made.textContent = text;
    return made;
  }

  const add = (svg, name, attributes, text) => svg.appendChild(element(name, attributes, text));
  const middle = (cell) => rowCol(cell).map((line) => line + 0.5).reverse(); // x, y
  const square = (cell, kind, inset = 0) => {
    const [row, col] = rowCol(cell);
    return { class: kind, x: col + inset, y: row + inset, width: 1 - 2 * inset, height: 1 - 2 * inset };
  };

  function blank(svg, rows = SIZE, cols = SIZE) {
    svg.replaceChildren();
    svg.setAttribute("viewBox", `-0.06 -0.06 ${cols + 0.12} ${rows + 0.12}`);
    add(svg, "rect", { class: "floor", width: cols, height: rows });
  }

  function lines(svg, rows = SIZE, cols = SIZE) {
    for (let row = 1; row < rows; row++) add(svg, "line", { class: "line", x1: 0, x2: cols, y1: row, y2: row });
    for (let col = 1; col < cols; col++) add(svg, "line", { class: "line", y1: 0, y2: rows, x1: col, x2: col });
  }

  const frame = (svg, rows = SIZE, cols = SIZE) => add(svg, "rect", { class: "frame", width: cols, height: rows });
  const walls = (svg, level) => level.walls.forEach((wall, cell) => wall && add(svg, "rect", square(cell, "wall")));

  function things(svg, objects, { hollow = false } = {}) {
    for (const [letter, cell] of Object.entries(objects)) thing(svg, letter, middle(cell), hollow);
  }

  function thing(svg, letter, [x, y], hollow = false) {
    if (letter === "*") {
      add(svg, "polygon", { class: "star", points: STAR.map(([dx, dy]) => `${x + dx},${y + dy}`).join(" ") });
      return;
    }
    const kind = hollow ? `thing hollow kind-${letter}` : `thing kind-${letter}`, inset = hollow ? 0.06 : 0;
    add(svg, "rect", { class: kind, x: x - 0.5 + inset, y: y - 0.5 + inset, width: 1 - 2 * inset, height: 1 - 2 * inset });
    add(svg, "text", { class: hollow ? "letter light" : "letter", x, y: y + 0.21 }, letter);
  }

  const agent = (svg, cell) => {
    const [cx, cy] = middle(cell);
    add(svg, "circle", { class: "agent", cx, cy, r: 0.27 });
  };

  /** The whole picture of a state, with what lies on the floor drawn in between. */
  function state(svg, now, { floor = () => {}, above = () => {}, hollow = false, objects = now.objects } = {}) {
    blank(svg);
    floor(svg);
    lines(svg);
    walls(svg, now);
    things(svg, objects, { hollow });
    frame(svg);
    above(svg);
    agent(svg, now.agent);
  }

  /** The way that was walked, with a head where it ends unless the agent stands there. */
  function way(svg, cells, { ended = true, kind = "way" } = {}) {
    const points = cells.map(middle);
    add(svg, "polyline", { class: kind, points: points.map((point) => point.join(",")).join(" ") });
    const turn = cells.findLastIndex((cell) => cell !== cells.at(-1));
    if (turn >= 0 && ended) head(svg, points.at(-1), direction(points[turn], points.at(-1)), `${kind}-head`);
    const [cx, cy] = points[0];
    add(svg, "circle", { class: `${kind}-head`, cx, cy, r: 0.17 });
  }

  function direction([x, y], [x2, y2]) {
    const length = Math.hypot(x2 - x, y2 - y) || 1;
    return [(x2 - x) / length, (y2 - y) / length];
  }

  function head(svg, [x, y], [dx, dy], kind, size = 0.3) {
    const back = [x - dx * size, y - dy * size], side = [-dy * size * 0.62, dx * size * 0.62];
    const tip = [x + dx * 0.08, y + dy * 0.08];
    const points = [tip, [back[0] + side[0], back[1] + side[1]], [back[0] - side[0], back[1] - side[1]]];
    add(svg, "polygon", { class: kind, points: points.map((point) => point.join(",")).join(" ") });
  }

  /** An arrow for each action, as long as it is likely; a ring for staying. */
  function policy(svg, cell, probabilities, kind, reach = 1.45) {
    const [x, y] = middle(cell);
    Object.entries(MOVES).forEach(([action, [down, right]], number) => {
      const probability = probabilities[number];
      if (probability < 0.02) return;
      const length = Math.min(0.45 + reach * probability, room([x, y], [right, down]));
      if (action === "stay") add(svg, "circle", { class: `ring ${kind}`, cx: x, cy: y, r: 0.3 + 0.2 * probability });
      else arrow(svg, [x, y], [right, down], length, `arrow ${kind}`, 0.2 + 0.16 * probability);
    });
  }

  /** How far it is to the edge of the grid. */
  function room([x, y], [right, down]) {
    const ahead = right + down > 0 ? SIZE - (right ? x : y) : right ? x : y;
    return Math.max(ahead - 0.12, 0.36);
  }

  function arrow(svg, [x, y], [dx, dy], length, kind, size = 0.32) {
    const [x2, y2] = [x + dx * length, y + dy * length];
    add(svg, "line", { class: kind, x1: x, y1: y, x2: x2 - dx * size * 0.7, y2: y2 - dy * size * 0.7 });
    head(svg, [x2, y2], [dx, dy], kind, size);
  }

  /** The mean step from every cell: the longer, the surer. */
  function field(svg, now, policies, kind) {
    policies.forEach((policies_, cell) => {
      if (now.walls[cell] || Object.values(now.objects).includes(cell)) return;
      const step = [0, 0];
      Object.values(MOVES).forEach(([down, right], number) => {
        step[0] += right * policies_[number];
        step[1] += down * policies_[number];
      });
      const length = Math.hypot(...step);
      if (length < 0.08) return;
      const tail = middle(cell).map((line, axis) => line - 0.36 * step[axis]), unit = step.map((part) => part / length);
      arrow(svg, tail, unit, 0.72 * length, `arrow ${kind}`, 0.12 + 0.14 * length);
    });
  }

  /** Shares of time in each cell; square-root shading lets small shares be seen. */
  function heat(svg, shares, kind, largest = Math.max(...shares)) {
    shares.forEach((share, cell) => {
      const opacity = Math.sqrt(Math.abs(share) / (largest || 1));
      if (opacity > 0.03) add(svg, "rect", { ...square(cell, kind), "fill-opacity": opacity.toFixed(3) });
    });
  }

  const kindOf = (letter) => (letter === "*" ? "star" : `kind-${letter}`);

  /** Circles whose area is the probability; the last place is nowhere. */
  function belief(svg, places, kind) {
    places.slice(0, SIZE * SIZE).forEach((probability, cell) => {
      if (probability < 0.004) return;
      const [cx, cy] = middle(cell);
      // an outline would be larger than what it encloses where there is little
      const sure = probability > 0.05 ? "sure" : "";
      add(svg, "circle", { class: `belief ${sure} ${kind}`, cx, cy, r: 0.5 * Math.sqrt(probability) });
    });
  }

  function cross(svg, cell) {
    const [x, y] = middle(cell), arm = 0.22;
    for (const side of [arm, -arm]) add(svg, "line", { class: "truth", x1: x - arm, y1: y - side, x2: x + arm, y2: y + side });
  }

  /** Dark where it never looked, light where it looked before. */
  function fog(svg, cells, reach) {
    for (let cell = 0; cell < SIZE * SIZE; cell++) {
      const seen = (from) => distance(from, cell) <= reach;
      if (seen(cells.at(-1))) continue;
      add(svg, "rect", square(cell, cells.some(seen) ? "before" : "never"));
    }
  }

  function view(svg, cell, reach) {
    const [row, col] = rowCol(cell), [top, left] = [row, col].map((line) => Math.max(line - reach, 0));
    const [bottom, right] = [row, col].map((line) => Math.min(line + reach + 1, SIZE));
    if (reach >= 0) add(svg, "rect", { class: "view", x: left, y: top, width: right - left, height: bottom - top });
  }

  function note(svg, words) {
    const top = SIZE / 2 - 0.45 * (words.length - 1);
    words.forEach((line, number) => add(svg, "text", { class: "note", x: SIZE / 2, y: top + 0.9 * number }, line));
  }

  const parts = { element, add, square, blank, lines, frame, thing, kindOf };
  tomnet.draw = { ...parts, state, way, policy, field, heat, belief, cross, fog, view, note };
})(window.tomnet);
