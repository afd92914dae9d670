"use strict";
/* Episodes as text: a level, an empty line, then a step a line; `took`, `moved` and `gone` stand below their step.
   In a scene a step is one string, its events included. */
(function (tomnet) {
  const { level: levels } = tomnet;
  const TERMINAL = "ABCD";
  const LIMITS = { maze: 31, subgoal: 51 };
  const EVENT = /^(took|moved|gone) /;

  const write = (levelText, steps) => (steps.length ? `${levelText}\n\n${steps.join("\n")}\n` : levelText);

  /** The level's picture and the steps of a text; what is wrong with them, the reader on the server says. */
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

  /** Every state of an episode, the first included: `{agent, objects, walls, action, took}`. */
  function play(level, steps) {
    const states = [{ ...levels.copy(level), action: null, took: null }];
    steps.forEach((step, time) => states.push(after(states[time], step, time === steps.length - 1)));
    return states;
  }

  function after(state, step, last) {
    const [words, ...events] = step.split("\n"), [action, row, col] = words.split(" ");
    const next = { ...levels.copy(state), action, took: null };
    if (!(action in levels.MOVES)) throw new Error("A step here is up, down, left, right or stay.");
    next.agent = col === undefined ? levels.lead(state.walls, state.agent, action) : Number(row) * levels.SIZE + Number(col);
    events.forEach((event) => happen(next, event.split(" ")));
    const here = levels.contents({ ...next, agent: null }, next.agent), told = events.some((event) => event.startsWith("took"));
    if (last && here && !told && next.agent !== state.agent) happen(next, ["took", here]);
    return next;
  }

  function happen(state, [verb, letter, row, col]) {
    if (verb === "moved") state.objects[letter] = Number(row) * levels.SIZE + Number(col);
    else if (letter !== "nothing") delete state.objects[letter];
    if (verb === "took" && letter !== "nothing") state.took = letter;
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
    return states.length > LIMITS[world] ? `The episode is over after ${LIMITS[world]} steps.` : null;
  }

  tomnet.episode = { TERMINAL, write, split, play, step, over };
})(window.tomnet);
