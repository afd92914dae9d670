"use strict";
/* A page without a server: `tomnet.source` with the one observer that came with it, and agents that are simple enough to
   act in the page. The names are those of `source.js`; what is left out there, the page shows as missing. */
(function (tomnet) {
  const { level: levels, episode, planner } = tomnet;
  const { catalogue, known, wall_cost, most_walls, max_walls } = TOMNET_EXPORT;
  const observer = TomnetObserver.create(TOMNET_OBSERVER);
  const WORLD = "maze", STEP_LIMIT = catalogue.worlds.maze.step_limit, LETTERS = catalogue.worlds.maze.objects;
  const PATIENCE = 40; // milliseconds of computing, after which the page may move
  const NEEDS = "needs tomnet explore";
  let newest = 0, kept = { level: null, field: null };

  // --- The observer

  /** The levels and actions of an episode's text, state by state. */
  const played = (text) => {
    const { level, steps } = episode.split(text);
    return episode.play(levels.parse(level, WORLD), steps);
  };

  const asState = ({ walls, agent, objects }) => ({
    walls: planner.inRows(walls),
    agent_cell: agent,
    object_cells: [...LETTERS].map((letter) => objects[letter] ?? -1),
  });

  function snapshot({ text, time }) {
    const states = played(text), at = Math.min(time, states.length - 2);
    if (at < 0) throw new Error("A past episode has at least one step.");
    return { ...asState(states[at]), action: observer.actions.indexOf(states[at + 1].action) };
  }

  const embeddings = new Map();
  function embed(seen) {
    const key = JSON.stringify([seen.text, seen.time]);
    if (!embeddings.has(key)) embeddings.set(key, observer.embed(snapshot(seen)));
    return embeddings.get(key);
  }

  async function ask({ past, now, everywhere }) {
    const mine = ++newest, seen = past.map(embed), state = asState(played(now).at(-1));
    const { action, consumption, successor } = observer.ask(seen, state);
    const field = everywhere ? await fromEveryCell(seen, state, () => mine === newest) : null;
    if (mine !== newest) return null;
    const said = { action, consumption, successor: successor.map(planner.inRows), belief: null, field };
    return { said, character: characters(seen), remarks: remarks([...past.map(snapshot), state]) };
  }

  /** What the agent would do in each cell: kept while it walks. In between, the page is given time to move. */
  async function fromEveryCell(seen, state, wanted) {
    const field = [], blocked = state.walls.flat(), level = JSON.stringify([seen, { ...state, agent_cell: null }]);
    if (kept.level === level) return kept.field;
    let rested = performance.now();
    for (let cell = 0; cell < blocked.length && wanted(); cell++) {
      field.push(blocked[cell] ? observer.actions.map(() => 0) : observer.ask(seen, { ...state, agent_cell: cell }).action);
      if (performance.now() - rested < PATIENCE) continue;
      await new Promise((done) => setTimeout(done));
      rested = performance.now();
    }
    if (wanted()) kept = { level, field };
    return field;
  }

  /** Embeddings add up: who the agent is taken to be before any episode, and after each. */
  function characters(seen) {
    const add = (sum, each) => sum.map((part, axis) => part + each[axis]);
    const sums = seen.reduce((all, each) => [...all, add(all.at(-1), each)], [TOMNET_EXPORT.nobody]);
    return sums.map((mean) => ({ mean, deviation: null }));
  }

  function remarks(states) {
    const walls = Math.max(...states.map((state) => state.walls.flat().filter(Boolean).length)), reasons = [];
    if (walls > most_walls) reasons.push(`walls fill ${walls} cells, at most ${most_walls} there`);
    if (states.some((state) => state.object_cells.includes(-1))) reasons.push("an object is missing");
    return reasons.length ? [`unlike what this observer met in training: ${reasons.join("; ")}`] : [];
  }

  // --- Agents and levels

  /** Numbers between 0 and 1, the same for the same seed (mulberry32). */
  function randomFrom(seed) {
    let state = seed;
    return () => {
      state = (state + 0x6d2b79f5) | 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
  }

  const plan = (level, agent) =>
    agent.kind === "random" ? planner.always(agent) : planner.plan(level, agent, { wall_cost, step_limit: STEP_LIMIT });

  function walk(states, agent, steps, random) {
    const policies = plan(states.at(-1), agent), made = [];
    let now = states.at(-1), before = states;
    while (made.length < steps && !episode.over(before, WORLD)) {
      let left = random(), action = policies[now.agent].findIndex((probability) => (left -= probability) < 0);
      if (action < 0) action = policies[now.agent].findLastIndex((probability) => probability > 0);
      made.push(episode.step(now, observer.actions[action]));
      now = episode.play(now, [made.at(-1)]).at(-1);
      before = [...before, now];
    }
    return made;
  }

  /** Some straight walls, and everything on a free cell of its own: `sample_level` of `tomnet/world/levels.py`. */
  function randomLevel(random) {
    const whole = (below) => Math.floor(random() * below), made = { walls: new Array(levels.SIZE ** 2).fill(false), objects: {} };
    for (let walls = whole(max_walls + 1); walls > 0; walls--) {
      const [row, col, row2, col2] = Array.from({ length: 4 }, () => whole(levels.SIZE));
      const length = Math.max(Math.abs(row2 - row), Math.abs(col2 - col), 1);
      const along = (start, end, step) => Math.floor(start + (step * (end - start)) / length + 0.5);
      for (let step = 0; step <= length; step++) made.walls[along(row, row2, step) * levels.SIZE + along(col, col2, step)] = true;
    }
    const free = made.walls.flatMap((wall, cell) => (wall ? [] : [cell])), take = () => free.splice(whole(free.length), 1)[0];
    for (const letter of LETTERS) made.objects[letter] = take();
    made.agent = take();
    return levels.format(made);
  }

  async function watch({ agent, seed }) {
    const random = randomFrom(seed), level = randomLevel(random);
    return { text: episode.write(level, walk(played(level), agent, STEP_LIMIT, random)) };
  }

  async function beside({ now, agent }) {
    const level = played(now).at(-1), asked = { gammas: catalogue.gammas, step_limit: STEP_LIMIT, letters: LETTERS };
    return { ideal: null, agent: planner.future(level, plan(level, agent), asked) };
  }

  tomnet.source = {
    server: false,
    catalogue: async () => catalogue,
    absent: NEEDS,
    lacks: ({ agent, observer: wanted }) =>
      agent.kind === "deep" || (wanted && wanted !== observer.name)
        ? `This scene ${NEEDS}: a page without a server has one observer, of planners.`
        : null,
    ask,
    beside,
    act: async ({ agent, now, steps, seed }) => ({ steps: walk(played(now), agent, steps, randomFrom(seed)) }),
    watch,
    known: async () => known,
    level: async (subgoal, seed) => ({ level: randomLevel(randomFrom(seed)) }),
  };
})(window.tomnet);
