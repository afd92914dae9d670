"use strict";
/* Panel c: what the observer says, what the exact observer or the agent itself would, and the difference. */
(function (tomnet) {
  const { scene, answers, draw, level: levels, bars, past, picture: pictures } = tomnet;
  const { said, head, canDraw } = pictures;
  const byId = (id) => document.getElementById(id);
  const CHOOSERS = ["observer", "sally-observer"].map(byId); // of the observer, in either view
  const WHAT = { next: "Next step", field: "Every cell", successor: "Will be at", belief: "Believes" };
  const WHO = { observer: "Observer", ideal: "Ideal", agent: "Agent", difference: "Difference" };
  const SPECIES = { planner: "planners", random: "random", deep: "deep RL agents" };
  const NOBODY = ["No observer of deep RL agents", "is in the zoo yet.", "The agent itself can be asked."];

  /** Whether an observer was made for agents like this one. */
  const isMadeFor = ({ species, conditions }, { kind, condition }) =>
    species === SPECIES[kind] && (!conditions.length || conditions.includes(condition));

  /** The observer that an agent begins with: made for agents like it, and the usual one of these; null where nobody in its
      world is there yet. */
  function first(agent) {
    const world = scene.worldOf({ agent }), usual = tomnet.catalogue.first.map(answers.observer).filter(Boolean);
    const here = [...usual, ...tomnet.catalogue.observers].filter((each) => each.here && each.world === world);
    return (here.find((each) => isMadeFor(each, agent)) ?? here[0])?.name ?? null;
  }

  const isStranger = ({ agent, observer }) => observer !== null && !isMadeFor(answers.observer(observer), agent);

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
    const { show } = scene.get(), now = scene.now(), svg = byId("predicted");
    const over = tomnet.episode.over(scene.states(), scene.worldOf(scene.get())), there = !over && canDraw(show.who, show.what);
    if (there) pictures.show(svg, now, show);
    else draw.state(svg, now, { above: () => !over && missing(svg, show.who, show.what) });
    byId("reading").textContent = there ? pictures.inWords(show) : over ? "Nothing comes next." : "";
    svg.setAttribute("aria-label", `${WHO[show.who]}, ${WHAT[show.what].toLowerCase()}`);
  }

  function missing(svg, who, what) {
    if (answers.get().busy) return;
    if (who === "observer" && !scene.get().observer) draw.note(svg, NOBODY);
    else draw.note(svg, [`${WHO[who]}: nothing to show`, `for “${WHAT[what].toLowerCase()}”.`]);
  }

  // --- Around it

  const objects = () => [...levels.OBJECTS[scene.worldOf(scene.get())]];
  const says = (observer) => ["next", ...(answers.observer(observer)?.heads ?? []), ...(observer ? ["field"] : [])];
  const canShow = (what, observer) => says(observer).includes(what) || head("agent", what) !== null;
  const canSay = (who, what) => who === "observer" || canDraw(who, what);

  function controls() {
    const { show, observer } = scene.get();
    for (const input of byId("what").querySelectorAll("input")) {
      input.checked = input.value === show.what;
      input.disabled = !canShow(input.value, observer);
    }
    for (const input of byId("who").querySelectorAll("input")) {
      input.checked = input.value === show.who;
      input.disabled = !canSay(input.value, show.what);
      input.parentElement.title = input.disabled ? absent(input.value) : "";
    }
    byId("gamma-knob").hidden = show.what !== "successor";
    byId("belief-knob").hidden = show.what !== "belief";
    byId("gamma").value = tomnet.catalogue.gammas.indexOf(show.gamma);
    byId("gamma-said").textContent = `γ = ${show.gamma}`;
    past.options(byId("believed"), objects().map((letter, kind) => [kind, letter]), show.kind);
  }

  const absent = (who) =>
    who === "ideal" && !tomnet.source.server
      ? `The ideal observer ${tomnet.source.absent}`
      : "Of such an agent, nobody can say this exactly.";

  function charts() {
    const everyone = ["observer", "ideal", "agent"].map(said), told = (name) => everyone.map((each) => each?.[name]);
    const heads = [["action", "next action", tomnet.catalogue.actions], ["consumption", "will be taken", objects()]];
    const heard = heads.filter(([head]) => told(head).some((numbers) => numbers));
    [...byId("legend").children].forEach((sign, number) => (sign.hidden = !everyone[number]));
    byId("bars").replaceChildren(...heard.map(([head, title, names]) => bars.chart(title, names, ...told(head))));
  }

  function remarks() {
    const present = scene.get(), { observer } = present, { remarks, busy } = answers.get();
    const none = observer ? "" : `${NOBODY[0]} ${NOBODY[1]} Beside it stands the agent itself. `;
    const never = isStranger(present) ? `This observer was made for ${answers.observer(observer).watches}; it never met an agent like this. ` : "";
    const inWords = remarks.join("; ").replace(/N_past is (\d+)/, (_, seen) => `${seen} past episode${seen === "1" ? "" : "s"}`);
    const careful = remarks.length ? `Careful: ${inWords}.` : "";
    byId("remarks").textContent = `${none}${never}${careful}` || (busy ? "…" : "");
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

  function showObservers() {
    CHOOSERS.forEach(fillObservers);
    byId("observer").title = `Made for ${answers.observer(scene.get().observer)?.watches ?? "nobody here"}`;
  }

  function fillObservers(select) {
    const world = scene.worldOf(scene.get()), all = tomnet.catalogue.observers.filter((each) => each.world === world);
    const here = all.filter((each) => each.here), missing = all.filter((each) => !each.here);
    const choices = here.length ? here.map(({ name }) => new Option(name, name)) : [new Option("none yet", "")];
    const absent = missing.map(({ name }) => new Option(`${name} (${tomnet.source.absent})`, name));
    absent.forEach((option) => (option.disabled = true));
    select.replaceChildren(...choices, ...absent);
    select.value = scene.get().observer ?? "";
  }

  function chosen(name) {
    scene.set({ observer: name || null, past: scene.get().past.slice(-past.most(name || null)) });
  }

  function begin() {
    radios(byId("what"), "what", WHAT, (what) => look({ what }));
    radios(byId("who"), "who", WHO, (who) => look({ who }));
    byId("gamma").addEventListener("input", (event) => look({ gamma: tomnet.catalogue.gammas[event.target.value] }));
    byId("believed").addEventListener("change", (event) => look({ kind: Number(event.target.value) }));
    for (const select of CHOOSERS) select.addEventListener("change", () => chosen(select.value));
    const showAll = () => [controls, picture, charts, remarks, summary].forEach((show) => show());
    scene.listen(() => [showObservers, showAll].forEach((show) => show()));
    answers.listen(showAll);
  }

  tomnet.prediction = { begin, first, isStranger };
})(window.tomnet);
