"use strict";
/* Probabilities as bars: the observer filled and blue, the ideal observer an open diamond, the agent a vermillion line. */
(function (tomnet) {
  const { add, element } = tomnet.draw;
  const HEIGHT = 96, TOP = 22, FLOOR = 76, STEP = 38, SIDE = 8;
  const SIGNS = { up: "↑", down: "↓", left: "←", right: "→", stay: "stay" };

  function chart(title, names, said, ideal, agent) {
    const width = 2 * SIDE + STEP * names.length;
    const spoken = inWords(title, names, said, ideal, agent);
    const svg = element("svg", { class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": spoken });
    add(svg, "text", { class: "title", x: SIDE, y: 10 }, title);
    add(svg, "line", { class: "axis", x1: SIDE, x2: width - SIDE, y1: FLOOR, y2: FLOOR });
    names.forEach((name, place) => {
      const x = SIDE + STEP * (place + 0.5), y = (probability) => FLOOR - (FLOOR - TOP) * probability;
      const box = (top) => ({ class: "bar-network", x: x - 11, y: top, width: 22, height: FLOOR - top });
      if (said) add(svg, "rect", box(y(said[place])));
      if (agent) add(svg, "line", { class: "tick", x1: x - 14, x2: x + 14, y1: y(agent[place]), y2: y(agent[place]) });
      if (ideal) add(svg, "polygon", { class: "diamond", points: diamond(x, y(ideal[place])) });
      add(svg, "text", { class: "name", x, y: HEIGHT - 4 }, SIGNS[name] || name);
    });
    return svg;
  }

  const diamond = (x, y) => `${x},${y - 5} ${x + 5},${y} ${x},${y + 5} ${x - 5},${y}`;

  function inWords(title, names, said, ideal, agent) {
    const list = (numbers) => names.map((name, place) => `${name} ${numbers[place].toFixed(2)}`).join(", ");
    const told = Object.entries({ observer: said, "ideal observer": ideal, agent }).filter(([, numbers]) => numbers);
    return `${title}. ${told.map(([who, numbers]) => `${who}: ${list(numbers)}`).join("; ")}`;
  }

  tomnet.bars = { chart, SIGNS };
})(window.tomnet);
