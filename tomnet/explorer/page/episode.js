"use strict";
/* Episodes as text: a level, an empty line, then a step a line; `took`, `moved` and `gone` stand below their step.
   In a scene a step is one string, its events included. */
(function (tomnet) {
  const { level: levels } = tomnet;
  const TERMINAL = "ABCD";
  const EVENT = /^(took|moved|gone) /;

  const write = (levelText, steps) => (steps.length ? `${levelText}\n\n${steps.join("\n")}\n` : levelText);

  /** The level's picture and the steps of a text; whether they can be played, `play` says. */
  function split(text) {
    const lines = text.replace(/\r/g, "").split("\n").map((line) => line.replace(/\/\/.*/, "").trim());
    const first = lines.findIndex((line) => line), end = lines.findIndex((line, number) => number > first && !line);
    const steps = [];
    for (const line of end < 0 ? [] : lines.slice(end).filter((each) => each)) {
      if (EVENT.test(line) && steps.length) steps[steps.length - 1] += `\n${line}`;
      else steps.push(line);
    }
    return { level: lines.slice(first, end < 0 ? undefined : end).join("\n"), steps };
  }

  /** Every state of an episode, the first included: `{agent, objects, walls, action, took}`; or an Error whose message is
      a sentence. */
  function play(level, steps) {
    const states = [{ ...levels.copy(level), action: null, took: null }];
    steps.forEach((step, time) => states.push(after(states[time], step, time === steps.length - 1)));
    return states;
  }

  function after(state, step, last) {
    const [[action, ...told], ...events] = step.split("\n").map((line) => line.split(/\s+/));
    if (!Object.hasOwn(levels.MOVES, action)) throw new Error("A step here is up, down, left, right or stay.");
    const next = { ...levels.copy(state), action, took: null };
    next.agent = told.length ? freeCell(told, state) : levels.lead(state.walls, state.agent, action);
    events.forEach((event) => happen(next, event));
    const here = levels.contents({ ...next, agent: null }, next.agent), taken = events.some(([verb]) => verb === "took");
    if (last && here && !taken && next.agent !== state.agent) happen(next, ["took", here]);
    return next;
  }

  function freeCell(numbers, { walls }) {
    const [row, col] = numbers.map(Number), cell = row * levels.SIZE + col;
    const inside = numbers.length === 2 && numbers.every((number) => /^[0-9]{1,2}$/.test(number) && number < levels.SIZE);
    if (!inside || walls[cell]) throw new Error(`A cell is a row and a column from 0 to ${levels.SIZE - 1}, and no wall.`);
    return cell;
  }

  function happen(state, [verb, letter, ...numbers]) {
    if (verb === "took" && letter === "nothing") return;
    if (!Object.hasOwn(state.objects, letter)) throw new Error("What is taken, moved or gone was there before.");
    const away = levels.steps(state.agent, state.objects[letter]);
    if (verb === "took" && away > 1) throw new Error("What is taken lies where the agent is, or beside it.");
    if (verb === "moved") state.objects[letter] = freeCell(numbers, state);
    else delete state.objects[letter];
    if (verb === "took") state.took = letter;
  }

  /** The step that an action makes from a state, with what it takes. */
  function step(state, action) {
    const cell = levels.lead(state.walls, state.agent, action);
    const here = Object.keys(state.objects).find((letter) => state.objects[letter] === cell);
    return here && cell !== state.agent ? `${action}\ntook ${here}` : action;
  }

  /** Why nothing more can happen, or null. */
  function over(states, world) {
    const eaten = states.map((state) => state.took).find((letter) => letter && TERMINAL.includes(letter));
    if (eaten) return `The episode is over: ${eaten} was taken.`;
    const limit = tomnet.catalogue.worlds[world].step_limit;
    return states.length > limit ? `The episode is over after ${limit} steps.` : null;
  }

  tomnet.episode = { write, split, play, step, over };
})(window.tomnet);
