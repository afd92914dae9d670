"use strict";
/* Panel c: what the observer says, what the exact observer or the agent itself would, and the difference. */
(function (tomnet) {
  const { scene, answers, draw, level: levels, bars, past } = tomnet;
  const byId = (id) => document.getElementById(id);
  const WHAT = { next: "Next step", field: "Every cell", successor: "Will be at", belief: "Believes" };
  const WHO = { observer: "Observer", ideal: "Ideal", agent: "Agent", difference: "Difference" };
  const HEAD = { next: "action", field: "field", successor: "successor", belief: "belief" };
  const NOBODY = ["No observer of deep RL agents", "is in the zoo yet.", "The agent itself can be asked."];
  const LARGER = { next: "more likely", successor: "more time" };

  /** The observer that a world begins with, one that speaks of beliefs before others; null where none is there yet. */
  function first(world) {
    const here = tomnet.catalogue.observers.filter((each) => each.here && each.world === world && each.heads.length > 1);
    return (here.find((each) => each.heads.includes("belief")) ?? here[0])?.name ?? null;
  }

  const said = (who) => (who === "observer" ? answers.get().said : answers.get().beside[who]);
  const head = (who, what) => said(who)?.[HEAD[what]] ?? null;
  /** Whom the observer is compared with: the exact one, where there is one. */
  const beside = (what) => ["ideal", "agent"].find((who) => head(who, what)) ?? null;

  function radios(box, name, words, change) {
    for (const [value, text] of Object.entries(words)) {
      const [label, input, span] = ["label", "input", "span"].map((tag) => document.createElement(tag));
      Object.assign(input, { type: "radio", name, value });
      input.addEventListener("change", () => change(value));
      span.textContent = text;
      label.append(input, span);
      box.append(label);
    }
  }

  const look = (changes) => scene.set({ show: { ...scene.get().show, ...changes } }, { quiet: true });

  // --- The picture

  function picture() {
    const { show } = scene.get(), now = scene.now(), svg = byId("predicted"), who = show.who;
    const over = tomnet.episode.over(scene.states(), scene.worldOf(scene.get()));
    const there = who === "difference" ? head("observer", show.what) && beside(show.what) : head(who, show.what);
    if (over || !there) {
      draw.state(svg, now, { above: () => !over && missing(svg, who, show.what) });
      return;
    }
    ({ next, field, successor, belief })[show.what](svg, now, who, show);
    svg.setAttribute("aria-label", `${WHO[who]}: ${WHAT[show.what].toLowerCase()}.`);
  }

  function missing(svg, who, what) {
    if (answers.get().busy) return;
    if (who === "observer" && !scene.get().observer) draw.note(svg, NOBODY);
    else draw.note(svg, [`${WHO[who]}: nothing to show`, `for “${WHAT[what].toLowerCase()}”.`]);
  }

  /** Whose answers are drawn, the observer's last and so on top. */
  const both = (who, what) => (who === "difference" ? [beside(what), "observer"] : [who]);

  function next(svg, now, who) {
    const arrows = (kind) => draw.policy(svg, now.agent, head(kind, "next"), kind);
    draw.state(svg, now, { above: () => both(who, "next").forEach(arrows) });
  }

  function field(svg, now, who) {
    const arrows = (kind) => draw.field(svg, now, head(kind, "field"), kind);
    draw.state(svg, now, { above: () => both(who, "field").forEach(arrows) });
  }

  const gammaNumber = (show) => Math.max(tomnet.catalogue.gammas.indexOf(show.gamma), 0);
  const shares = (who, show) => head(who, "successor")[gammaNumber(show)].flat();

  function successor(svg, now, who, show) {
    if (who !== "difference") {
      draw.state(svg, now, { hollow: true, floor: () => draw.heat(svg, shares(who, show), `heat ${who}`) });
      return;
    }
    const [mine, other] = [shares("observer", show), shares(beside("successor"), show)];
    const change = mine.map((share, cell) => share - other[cell]), largest = Math.max(...mine, ...other);
    const only = (sign) => change.map((part) => Math.max(sign * part, 0));
    draw.state(svg, now, { hollow: true, floor: () => {
      draw.heat(svg, only(1), "more", largest);
      draw.heat(svg, only(-1), "less", largest);
    } });
  }

  function belief(svg, now, who, show) {
    const letter = objects()[show.kind];
    draw.state(svg, now, { objects: {}, above: () => {
      both(who, "belief").forEach((kind) => draw.belief(svg, head(kind, "belief")[show.kind], letter));
      if (letter in now.objects) draw.cross(svg, now.objects[letter]);
    } });
  }

  // --- Around it

  const objects = () => [...levels.OBJECTS[scene.worldOf(scene.get())]];
  const heads = (observer) => ["action", ...(answers.observer(observer)?.heads ?? []), ...(observer ? ["field"] : [])];
  const canShow = (what, observer) => heads(observer).includes(HEAD[what]) || head("agent", what) !== null;
  const canSay = (who, what) =>
    who === "difference" ? head("observer", what) && beside(what) : who === "observer" || head(who, what);

  function controls() {
    const { show, observer } = scene.get();
    for (const input of byId("what").querySelectorAll("input")) {
      input.checked = input.value === show.what;
      input.disabled = !canShow(input.value, observer);
    }
    for (const input of byId("who").querySelectorAll("input")) {
      input.checked = input.value === show.who;
      input.disabled = !canSay(input.value, show.what);
    }
    byId("gamma-knob").hidden = show.what !== "successor";
    byId("belief-knob").hidden = show.what !== "belief";
    byId("gamma").value = gammaNumber(show);
    byId("gamma-said").textContent = `γ = ${show.gamma}`;
    past.options(byId("believed"), objects().map((letter, kind) => [kind, letter]), show.kind);
  }

  function charts() {
    const everyone = ["observer", "ideal", "agent"].map(said), told = (name) => everyone.map((each) => each?.[name]);
    const actions = bars.chart("next action", tomnet.catalogue.actions, ...told("action"));
    const taken = bars.chart("will be taken", objects(), ...told("consumption"));
    byId("bars").replaceChildren(...(told("consumption").some((numbers) => numbers) ? [actions, taken] : [actions]));
  }

  function remarks() {
    const { observer, show } = scene.get(), { remarks, busy } = answers.get();
    const other = beside(show.what) === "ideal" ? "the ideal observer" : "the agent itself", more = LARGER[show.what];
    const colours = `Blue: the observer says ${more}; the other colour: ${other} does. `;
    const difference = show.who === "difference" && more ? colours : "";
    const none = observer ? "" : `${NOBODY[0]} ${NOBODY[1]} Beside it stands the agent itself. `;
    const careful = remarks.length ? `Careful: ${remarks.join("; ")}.` : "";
    byId("remarks").textContent = `${none}${difference}${careful}` || (busy ? "…" : "");
  }

  /** The answer in a line, for the ear and for small screens. */
  function summary() {
    const who = ["observer", "agent"].find((each) => said(each)?.action), told = who && said(who);
    const best = (numbers, names) => {
      const place = numbers.indexOf(Math.max(...numbers));
      return `${names[place]} ${numbers[place].toFixed(2)}`;
    };
    const next = told ? `${WHO[who]}: next ${best(told.action, tomnet.catalogue.actions)}` : "";
    const taken = told?.consumption ? `, will take ${best(told.consumption, objects())}` : "";
    byId("summary").textContent = `${next}${taken}`;
  }

  function observers() {
    const world = scene.worldOf(scene.get()), all = tomnet.catalogue.observers.filter((each) => each.world === world);
    const here = all.filter((each) => each.here), missing = all.filter((each) => !each.here);
    const choices = here.length ? here.map(({ name }) => new Option(name, name)) : [new Option("none yet", "")];
    const absent = missing.map(({ name }) => new Option(`${name} (not in the zoo yet)`, name));
    absent.forEach((option) => (option.disabled = true));
    byId("observer").replaceChildren(...choices, ...absent);
    byId("observer").value = scene.get().observer ?? "";
    byId("observer").title = `Made for ${answers.observer(scene.get().observer)?.watches ?? "nobody here"}`;
  }

  function chosen(name) {
    scene.set({ observer: name || null, past: scene.get().past.slice(-past.most(name || null)) });
  }

  function begin() {
    radios(byId("what"), "what", WHAT, (what) => look({ what }));
    radios(byId("who"), "who", WHO, (who) => look({ who }));
    byId("gamma").addEventListener("input", (event) => look({ gamma: tomnet.catalogue.gammas[event.target.value] }));
    byId("believed").addEventListener("change", (event) => look({ kind: Number(event.target.value) }));
    byId("observer").addEventListener("change", (event) => chosen(event.target.value));
    const showAll = () => [controls, picture, charts, remarks, summary].forEach((show) => show());
    scene.listen(() => [observers, showAll].forEach((show) => show()));
    answers.listen(showAll);
  }

  tomnet.prediction = { begin, first };
})(window.tomnet);
