"use strict";
/* Somebody's own episode: read in the browser, checked by the reader on the server, and stepped through. */
(function (tomnet) {
  const { scene, draw } = tomnet;
  const LARGEST = 2 ** 20;
  const FITS = "It is of this observer's world, and can go into the past.";
  const STRANGE = "It can be looked at; the observers here know other worlds (11×11, A to D, a star for deep RL agents).";
  const byId = (id) => document.getElementById(id);
  let opened = null;

  async function open(file) {
    if (!file.size) throw new Error("That file is empty.");
    if (file.size > LARGEST) throw new Error("That file is larger than 1 MiB: no episode is.");
    opened = await tomnet.source.read(await file.text());
    Object.assign(byId("file-time"), { max: opened.frames.cells.length - 1, value: 0 });
    const fits = opened.world === scene.worldOf(scene.get());
    byId("file-use").disabled = !fits;
    byId("file-fits").textContent = fits ? FITS : STRANGE;
    show();
    byId("file-dialog").showModal();
  }

  function show() {
    const { walls, objects, cells, object_cells, actions, taken } = opened.frames, time = Number(byId("file-time").value);
    const svg = byId("file-view"), rows = walls.length, cols = walls[0].length;
    const middle = (cell) => [(cell % cols) + 0.5, Math.floor(cell / cols) + 0.5], way = cells.slice(0, time + 1).map(middle);
    svg.style.aspectRatio = cols / Math.min(rows, cols); // no taller than a square
    draw.blank(svg, rows, cols);
    draw.lines(svg, rows, cols);
    const wall = (x, y) => draw.add(svg, "rect", { class: "wall", x, y, width: 1, height: 1 });
    walls.forEach((row, y) => row.forEach((here, x) => here && wall(x, y)));
    object_cells[time].forEach((cell, kind) => cell >= 0 && draw.thing(svg, objects[kind], middle(cell)));
    draw.add(svg, "polyline", { class: "way", points: way.map((point) => point.join(",")).join(" ") });
    draw.frame(svg, rows, cols);
    draw.add(svg, "circle", { class: "agent", cx: way.at(-1)[0], cy: way.at(-1)[1], r: 0.27 });
    const did = time ? `${actions[time - 1] ?? "?"}${taken[time - 1] ? `, took ${taken[time - 1]}` : ""}` : "start";
    byId("file-said").textContent = `${time}: ${did}`;
  }

  function use() {
    const { past, observer } = scene.get();
    scene.set({ past: [...past, tomnet.past.seen(opened.text)].slice(-tomnet.past.most(observer)) });
    byId("file-dialog").close();
  }

  byId("file").addEventListener("change", async (event) => {
    const [file] = event.target.files;
    if (file) await tomnet.trying(() => open(file));
    event.target.value = ""; // the same file may be opened again
  });
  byId("file-time").addEventListener("input", show);
  byId("file-use").addEventListener("click", () => tomnet.trying(use));
  byId("file-close").addEventListener("click", () => byId("file-dialog").close());
})(window.tomnet);
