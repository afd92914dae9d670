"use strict";
/* Panel a: random levels, levels as text, and the current episode, step by step or at speed. */
(function (tomnet) {
  const { level: levels, scene, episode } = tomnet;
  const PAUSE = 260; // milliseconds between two steps at speed
  const byId = (id) => document.getElementById(id);
  let playing = null; // an object of its own for each press of Play

  const world = () => scene.worldOf(scene.get());
  const over = () => episode.over(scene.states(), world());

  /** One step of the agent, chosen by itself. */
  async function act() {
    const before = scene.get();
    const answer = await tomnet.source.act({ agent: before.agent, now: scene.text(before), steps: 1, seed: tomnet.seed() });
    if (answer && scene.get() === before) scene.set({ steps: [...before.steps, ...answer.steps] });
  }

  /** To the end of the episode, unless it is paused, becomes another one, or something goes wrong. */
  async function play() {
    const mine = playing ? null : {}, { level } = scene.get();
    pressPlay(mine);
    await tomnet.trying(async () => {
      while (mine && playing === mine && !over() && scene.get().level === level) {
        await act();
        await new Promise((done) => setTimeout(done, PAUSE));
      }
    });
    if (playing === mine) pressPlay(null);
  }

  function pressPlay(by) {
    playing = by;
    byId("play").setAttribute("aria-pressed", Boolean(by));
    byId("play").textContent = by ? "Pause" : "Play";
  }

  async function random() {
    const { level } = await tomnet.source.level(world() === "subgoal", tomnet.seed());
    scene.set({ name: null, level, steps: [] });
  }

  // --- As text

  function openText() {
    byId("text").value = scene.text();
    byId("text-wrong").textContent = "";
    byId("text-dialog").showModal();
  }

  function useText() {
    try {
      const read = episode.split(byId("text").value);
      scene.set({ name: null, level: levels.format(levels.parse(read.level, world())), steps: read.steps });
      byId("text-dialog").close();
    } catch (error) {
      byId("text-wrong").textContent = error.message;
    }
  }

  function keep() {
    const { past, observer } = scene.get(), most = tomnet.past.most(observer);
    scene.set({ past: [...past, tomnet.past.seen(scene.text())].slice(-most), steps: [] });
  }

  function show() {
    const states = scene.states(), ended = over(), now = states.at(-1), stuck = walledIn(now);
    for (const id of ["step", "play"]) byId(id).disabled = Boolean(ended);
    for (const id of ["restart", "step-back", "keep"]) byId(id).disabled = states.length < 2;
    const steps = states.length === 2 ? "1 step" : `${states.length - 1} steps`;
    const begun = states.length > 1 ? `${steps} so far.` : "The episode has not begun.";
    byId("episode-state").textContent = ended || (stuck ? "The agent is walled in: it has no way to move." : begun);
  }

  const walledIn = ({ walls, agent }) => Object.keys(levels.MOVES).every((action) => levels.lead(walls, agent, action) === agent);

  tomnet.pressed("random-level", random);
  byId("as-text").addEventListener("click", openText);
  byId("text-use").addEventListener("click", useText);
  byId("text-copy").addEventListener("click", () => tomnet.copy(byId("text").value, "The level is copied."));
  byId("text-close").addEventListener("click", () => byId("text-dialog").close());
  byId("restart").addEventListener("click", () => scene.set({ steps: [] }));
  byId("step-back").addEventListener("click", () => scene.set({ steps: scene.get().steps.slice(0, -1) }));
  tomnet.pressed("step", act);
  byId("play").addEventListener("click", play);
  byId("keep").addEventListener("click", keep);
  scene.listen(show);
  tomnet.world = { act };
})(window.tomnet);
