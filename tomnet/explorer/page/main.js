"use strict";
/* The beginning: who is there, the scene of the address or a ready one, and what belongs to no panel. */
(function (tomnet) {
  const { scene, address, answers } = tomnet;
  const byId = (id) => document.getElementById(id);
  const SHOW = { what: "next", who: "observer", gamma: 0.9, kind: 0 };

  function ready({ name, level, agent, past, observer = null, view = "explore", way = null, steps = [] }) {
    const world = scene.worldOf({ agent }), here = observer && answers.observer(observer)?.here;
    const show = here || world === "maze" ? SHOW : { ...SHOW, who: "agent" };
    const chosen = here ? observer : tomnet.prediction.first(agent);
    return { name, view, level, steps, agent, past: past.map(tomnet.past.seen), way, show, observer: chosen };
  }

  const sceneOf = (name) => tomnet.catalogue.scenes.find((each) => each.name === name);
  const choose = (name) => scene.set(ready(sceneOf(name)));
  const open = (hash) => scene.set(address.read(hash));

  /** Which of the ready scenes this began as: when that is undone, it is another one again. */
  function title({ name }) {
    byId("scenes").value = name ?? "";
    byId("about").textContent = sceneOf(name)?.about ?? "";
  }

  function keys(event) {
    const key = event.key.toLowerCase(), typing = event.target.closest("textarea"); // which has an undo of its own
    if (!(event.ctrlKey || event.metaKey) || !["z", "y"].includes(key) || typing) return;
    event.preventDefault();
    if (event.shiftKey || key === "y") scene.redo();
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
      title(present);
      document.documentElement.dataset.busy = "yes";
    });
    answers.listen(({ busy }) => (document.documentElement.dataset.busy = busy ? "yes" : "no"));
  }

  async function begin() {
    tomnet.catalogue = await tomnet.source.catalogue();
    const ready = tomnet.catalogue.scenes.map(({ name, title, agent, observer = null }) => {
      const lacks = tomnet.source.lacks({ agent, observer });
      return Object.assign(new Option(lacks ? `${title} (${tomnet.source.absent})` : title, name), { disabled: Boolean(lacks) });
    });
    byId("scenes").replaceChildren(new Option("Your own", ""), ...ready);
    byId("without-server").hidden = tomnet.source.server;
    tomnet.past.begin();
    tomnet.prediction.begin();
    listen();
    const hash = location.hash, first = ready.find((option) => !option.disabled).value;
    choose(first);
    if (hash.length > 1) await tomnet.trying(() => open(hash));
    address.keep(scene.get());
    tomnet.openPanel("world");
    document.documentElement.dataset.ready = "yes";
  }

  tomnet.trying(begin);
})(window.tomnet);
