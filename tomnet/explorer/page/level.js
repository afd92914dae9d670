"use strict";
/* Levels: pictures in the project's text format, and where a step leads. A cell is row * SIZE + col. */
(function (tomnet) {
  const SIZE = 11;
  const MOVES = { up: [-1, 0], down: [1, 0], left: [0, -1], right: [0, 1], stay: [0, 0] };
  const OBJECTS = { maze: "ABCD", subgoal: "ABCD*" };

  /** A level from its picture, or an Error whose message is a sentence. */
  function parse(text, world) {
    const rows = text.replace(/\r/g, "").trim().split("\n").map((row) => row.trim());
    if (rows.length !== SIZE || rows.some((row) => [...row].length !== SIZE)) {
      throw new Error(`A level here has ${SIZE} rows of ${SIZE} signs.`);
    }
    const level = { walls: new Array(SIZE * SIZE).fill(false), objects: {}, agent: null };
    [...rows.join("")].forEach((sign, cell) => place(level, sign, cell, OBJECTS[world]));
    if (level.agent === null) throw new Error("There is no agent: draw one @.");
    return level;
  }

  function place(level, sign, cell, objects) {
    const where = inWords(cell);
    if (sign === "#") level.walls[cell] = true;
    else if (sign === "@" && level.agent === null) level.agent = cell;
    else if (objects.includes(sign) && !(sign in level.objects)) level.objects[sign] = cell;
    else if (sign === "@" || objects.includes(sign)) throw new Error(`In ${where}: there is one of each.`);
    else if (sign !== ".") throw new Error(`In ${where}: # . @ and ${[...objects].join(" ")} are known here.`);
  }

  function format(level) {
    const signs = level.walls.map((wall) => (wall ? "#" : "."));
    for (const [letter, cell] of Object.entries(level.objects)) signs[cell] = letter;
    signs[level.agent] = "@";
    return Array.from({ length: SIZE }, (_, row) => signs.slice(row * SIZE, (row + 1) * SIZE).join("")).join("\n");
  }

  const rowCol = (cell) => [Math.floor(cell / SIZE), cell % SIZE];
  const inside = (row, col) => row >= 0 && row < SIZE && col >= 0 && col < SIZE;

  /** Where an action leads; the edge of the grid is a wall. */
  function lead(walls, cell, action) {
    const [row, col] = rowCol(cell), [down, right] = MOVES[action];
    const target = (row + down) * SIZE + col + right;
    return inside(row + down, col + right) && !walls[target] ? target : cell;
  }

  /** The action from a cell to its neighbour, if one leads there. */
  function between(walls, from, to) {
    return Object.keys(MOVES).find((action) => action !== "stay" && lead(walls, from, action) === to && from !== to);
  }

  const copy = (level) => ({ walls: [...level.walls], objects: { ...level.objects }, agent: level.agent });
  const contents = (level, cell) =>
    level.agent === cell ? "@" : Object.keys(level.objects).find((letter) => level.objects[letter] === cell);
  const apart = (one, other) => rowCol(one).map((line, axis) => Math.abs(line - rowCol(other)[axis]));
  const distance = (one, other) => Math.max(...apart(one, other)); // as far as an agent sees
  const steps = (one, other) => apart(one, other).reduce((sum, part) => sum + part); // as far as it walks
  const inWords = (cell) => `row ${rowCol(cell)[0] + 1}, column ${rowCol(cell)[1] + 1}`;

  tomnet.level = { SIZE, MOVES, OBJECTS, parse, format, lead, between, copy, contents, distance, steps, rowCol, inWords };
})((window.tomnet = window.tomnet || {}));
