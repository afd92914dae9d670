"use strict";
/* The scene: all that the page shows and an address holds, as plain data. It is replaced, never changed, so that what
   was there can come back. */
(function (tomnet) {
  const { level: levels, episode: episodes } = tomnet;
  const MOST_UNDONE = 200;
  let present = null, before = [], after = [], going = null;
  const listeners = [];

  const worldOf = (scene) => (scene.agent.kind === "deep" ? "subgoal" : "maze");
  const level = (scene = present) => levels.parse(scene.level, worldOf(scene));
  const states = (scene = present) => episodes.play(level(scene), scene.steps);
  const now = (scene = present) => states(scene).at(-1);
  const text = (scene = present) => episodes.write(scene.level, scene.steps);

  /** Another scene in the place of this one; `quiet` changes, such as what is looked at, are not undone one by one, and
      all of one `gesture`, such as a drag, are undone together. */
  function set(changes, { quiet = false, gesture = null } = {}) {
    const next = { ...present, ...changes };
    states(next); // an Error here leaves everything as it was
    if (present && !quiet) {
      if (!gesture || gesture !== going) before = [...before.slice(-MOST_UNDONE), present];
      after = [];
      going = gesture;
    }
    present = next;
    tell();
  }

  function undo() {
    if (!before.length) return;
    after.push(present);
    present = before.pop();
    going = null;
    tell();
  }

  function redo() {
    if (!after.length) return;
    before.push(present);
    present = after.pop();
    tell();
  }

  /** What is on the screen becomes the level, and a new episode begins there. */
  function edit(change, how) {
    const edited = levels.copy(now());
    change(edited);
    set({ level: levels.format(edited), steps: [] }, how);
  }

  /** An agent of another kind lives in another world: the star comes or goes, everything else stays. */
  function inWorldOf(agent, scene = present) {
    const next = { ...scene, agent };
    if (worldOf(next) === worldOf(scene)) return next;
    const edited = levels.copy(now(scene));
    if (worldOf(next) === "maze") delete edited.objects["*"];
    else edited.objects["*"] = edited.walls.findIndex((wall, cell) => !wall && !levels.contents(edited, cell));
    return { ...next, level: levels.format(edited), steps: [], past: [] };
  }

  const tell = () => listeners.forEach((listener) => listener(present));
  const listen = (listener) => listeners.push(listener);

  tomnet.scene = {
    get: () => present, set, edit, undo, redo, listen, worldOf, level, states, now, text, inWorldOf,
    canUndo: () => before.length > 0, canRedo: () => after.length > 0,
  };
})(window.tomnet);
