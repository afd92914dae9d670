"use strict";
/* The beginning: who is there, the scene of the address or a ready one, and what belongs to no panel. */
(function (tomnet) {
  const { scene, address, answers } = tomnet;
  const byId = (id) => document.getElementById(id);
  const SHOW = { what: "next", who: "observer", gamma: 0.9, kind: 0 };

  function ready({ level, agent, past, observer = null, view = "explore", way = null, steps = [] }) {
    const world = scene.worldOf({ agent }), here = observer && answers.observer(observer)?.here;
    const show = here || world === "maze" ? SHOW : { ...SHOW, who: "agent" };
    const chosen = here ? observer : tomnet.prediction.first(world);
    return { view, level, steps, agent, past: past.map(tomnet.past.seen), way, show, observer: chosen };
  }

  function choose(name) {
    const found = tomnet.catalogue.scenes.find((each) => each.name === name);
    scene.set(ready(found));
    byId("about").textContent = found.about;
  }

  function open(hash) {
    scene.set(address.read(hash));
    byId("about").textContent = "A scene from an address.";
    byId("scenes").value = "";
  }

  function keys(event) {
    const typing = event.target.closest("textarea, input, select");
    if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || typing) return;
    event.preventDefault();
    if (event.shiftKey) scene.redo();
    else scene.undo();
  }

  function theme() {
    const page = document.documentElement, preferred = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    page.dataset.theme = (page.dataset.theme ?? preferred) === "dark" ? "light" : "dark";
  }

  /** On a phone one panel is on the screen at a time. */
  tomnet.openPanel = function (panel) {
    document.body.dataset.panel = panel;
    for (const tab of byId("tabs").children) tab.setAttribute("aria-selected", tab.getAttribute("aria-controls") === panel);
  };

  function tabKey(event) {
    const tabs = [...byId("tabs").children], here = tabs.indexOf(document.activeElement);
    const to = { ArrowRight: here + 1, ArrowLeft: here - 1 }[event.key];
    if (to !== undefined) tabs[(to + tabs.length) % tabs.length].focus();
  }

  function listen() {
    for (const tab of byId("tabs").children) {
      tab.addEventListener("click", () => tomnet.openPanel(tab.getAttribute("aria-controls")));
    }
    byId("tabs").addEventListener("keydown", tabKey);
    byId("scenes").addEventListener("change", ({ target }) => target.value && tomnet.trying(() => choose(target.value)));
    byId("undo").addEventListener("click", scene.undo);
    byId("redo").addEventListener("click", scene.redo);
    byId("theme").addEventListener("click", theme);
    document.addEventListener("keydown", keys);
    window.addEventListener("hashchange", async () => {
      await tomnet.trying(() => open(location.hash));
      address.keep(scene.get());
    });
    scene.listen((present) => {
      byId("undo").disabled = !scene.canUndo();
      byId("redo").disabled = !scene.canRedo();
      address.keep(present);
      document.documentElement.dataset.busy = "yes";
    });
    answers.listen(({ busy }) => (document.documentElement.dataset.busy = busy ? "yes" : "no"));
  }

  async function begin() {
    tomnet.catalogue = await tomnet.source.catalogue();
    const ready = tomnet.catalogue.scenes.map((each) => new Option(each.title, each.name));
    byId("scenes").replaceChildren(new Option("Your own", ""), ...ready);
    tomnet.past.begin();
    tomnet.prediction.begin();
    listen();
    const hash = location.hash, first = tomnet.catalogue.scenes[0].name;
    byId("scenes").value = first;
    choose(first);
    if (hash.length > 1) await tomnet.trying(() => open(hash));
    address.keep(scene.get());
    tomnet.openPanel("world");
    document.documentElement.dataset.ready = "yes";
  }

  tomnet.trying(begin);
})(window.tomnet);
