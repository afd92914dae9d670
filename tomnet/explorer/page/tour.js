"use strict";
/* A guided tour of five steps. */
(function (tomnet) {
  const byId = (id) => document.getElementById(id);
  const STEPS = [
    ["world", "A world to draw", `Paint walls, drag the objects A to D and the agent, or take a random level. Everything can
      be undone, and everything works from the keyboard.`],
    ["past", "An agent with a past", `Choose what an agent wants and watch it for an episode or two. Each dot on the map is an
      agent the observer knows; the large one is yours, and moves with every episode.`],
    ["prediction", "What will it do?", `The observer has never met this agent. From its past alone it says which step comes
      next, what will be taken, and where the agent will be.`],
    ["who", "Is that right?", `Beside it stands the exact ideal observer, or the agent itself. “Difference” draws where they
      disagree.`],
    ["scenes", "Sally and Anne", `In these scenes something is moved behind an agent's back. See what it believes, and share
      any scene by its address.`],
  ];
  const PANELS = { world: "world", past: "past", prediction: "prediction", who: "prediction" };
  let place = -1;

  function go(to) {
    document.querySelector(".shown")?.classList.remove("shown");
    place = to;
    byId("guide").hidden = to < 0 || to >= STEPS.length;
    if (byId("guide").hidden) return byId("tour").focus();
    const [id, title, text] = STEPS[to], calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    byId("guide-title").textContent = title;
    byId("guide-text").textContent = text;
    byId("guide-place").textContent = `${to + 1} of ${STEPS.length}`;
    byId("guide-back").disabled = to === 0;
    byId("guide-next").textContent = to === STEPS.length - 1 ? "Done" : "Next";
    byId("guide").dataset.about = PANELS[id] ?? id;
    if (id in PANELS) tomnet.openPanel(PANELS[id]);
    byId(id).classList.add("shown");
    byId(id).scrollIntoView({ block: "nearest", behavior: calm ? "auto" : "smooth" });
    byId("guide-next").focus({ preventScroll: true });
  }

  function begin() {
    const { view } = tomnet.scene.get();
    if (view === "sally") tomnet.scene.set({ view: "explore" });
    go(0);
  }

  byId("tour").addEventListener("click", begin);
  byId("guide-next").addEventListener("click", () => go(place + 1));
  byId("guide-back").addEventListener("click", () => go(place - 1));
  byId("guide-close").addEventListener("click", () => go(-1));
  byId("guide").addEventListener("keydown", (event) => event.key === "Escape" && go(-1));
})(window.tomnet);
