"use strict";
/* Panel b: who acts, and what was seen of it. */
(function (tomnet) {
  const { scene, episode, draw, level: levels, answers } = tomnet;
  const byId = (id) => document.getElementById(id);
  const NO_OBSERVER = 4; // past episodes that are kept where nobody reads them

  const most = (observer) => (observer ? answers.observer(observer).max_past : NO_OBSERVER);
  /** A past episode; an observer of single steps sees the middle one first. */
  const seen = (text) => ({ text, time: Math.floor(episode.split(text).steps.length / 2) });

  // --- Who acts

  /** Another agent; one of another kind was not seen yet, and begins with an observer made for it. */
  function choose(agent, how) {
    const next = scene.inWorldOf(agent);
    if (agent.kind === scene.get().agent.kind) return scene.set(next, how);
    const observer = tomnet.prediction.first(agent), show = { ...next.show, who: observer ? "observer" : "agent" };
    scene.set({ ...next, name: null, past: [], observer, show });
  }

  function makeSliders() {
    const box = byId("planner-fields");
    [..."ABCD"].forEach((letter, kind) => {
      const change = (agent, value) => ({ ...agent, rewards: agent.rewards.with(kind, value) });
      box.append(slider(letter, `How much it wants ${letter}`, `want-${letter}`, 1, change));
    });
    const change = (agent, value) => ({ ...agent, move_cost: value });
    const cost = slider("Cost of a step", "What a step costs it", "move-cost", 0.5, change);
    cost.classList.add("cost");
    box.append(cost);
    tomnet.catalogue.actions.forEach((action, number) => {
      const change = (agent, value) => ({ ...agent, policy: agent.policy.with(number, value) });
      byId("random-fields").append(slider(tomnet.bars.SIGNS[action], `How often it goes ${action}`, `often-${action}`, 1, change));
    });
  }

  function slider(name, label, id, largest, change) {
    const [made, token, input, said] = ["label", "span", "input", "output"].map((tag) => document.createElement(tag));
    made.className = "want";
    token.textContent = name;
    if (/^[A-D]$/.test(name)) token.className = `token token-${name}`;
    Object.assign(input, { type: "range", id, min: 0, max: largest, step: 0.01 });
    input.setAttribute("aria-label", label);
    let gesture = {};
    input.addEventListener("input", () => choose(change(scene.get().agent, Number(input.value)), { gesture }));
    input.addEventListener("change", () => (gesture = {})); // the slider was let go
    said.id = `${id}-said`;
    made.append(token, input, said);
    return made;
  }

  const defaults = {
    planner: () => ({ kind: "planner", rewards: [0, 1, 0, 0], move_cost: 0.01 }),
    random: () => ({ kind: "random", policy: [0.1, 0.1, 0.6, 0.1, 0.1] }),
    deep: () => ({ kind: "deep", condition: "5x5", network: 0, preferred: 0 }),
  };

  function fillDeep(prefix, agent) {
    const { conditions } = tomnet.catalogue, condition = conditions.find((each) => each.name === agent.condition);
    options(byId(`${prefix}condition`), conditions.map((each) => [each.name, each.words]), agent.condition);
    const words = ({ number, held_out }) => `${number + 1}${held_out ? "" : " (trained on)"}`;
    const networks = condition.networks.map((each) => [each.number, words(each)]);
    options(byId(`${prefix}network`), networks, agent.network);
    options(byId(`${prefix}preferred`), [..."ABCD"].map((letter, kind) => [kind, letter]), agent.preferred);
  }

  /** Nothing was seen yet of another network: what is there is somebody else's past. */
  function listenDeep(prefix) {
    const other = (changes) => scene.set({ agent: { ...scene.get().agent, ...changes }, past: [] });
    byId(`${prefix}condition`).addEventListener("change", ({ target }) => other({ condition: target.value, network: 0 }));
    for (const field of ["network", "preferred"]) {
      byId(`${prefix}${field}`).addEventListener("change", ({ target }) => other({ [field]: Number(target.value) }));
    }
  }

  function options(select, pairs, chosen) {
    select.replaceChildren(...pairs.map(([value, words]) => new Option(words, value)));
    select.value = String(chosen);
  }

  function showAgent({ agent }) {
    byId("kind").value = agent.kind;
    for (const kind of Object.keys(defaults)) byId(`${kind}-fields`).hidden = kind !== agent.kind;
    ({ deep: (it) => fillDeep("", it), planner: showWants, random: showHabits })[agent.kind](agent);
  }

  function showSlider(id, value) {
    byId(id).value = value;
    byId(`${id}-said`).textContent = value.toFixed(2);
  }

  function showWants({ rewards, move_cost }) {
    [..."ABCD"].forEach((letter, kind) => showSlider(`want-${letter}`, rewards[kind]));
    showSlider("move-cost", move_cost);
  }

  const showHabits = ({ policy }) => policy.forEach((often, action) => showSlider(`often-${tomnet.catalogue.actions[action]}`, often));

  // --- What was seen

  async function watch() {
    const { agent, past, observer } = scene.get();
    const answer = await tomnet.source.watch({ agent, seed: tomnet.seed() });
    if (answer) scene.set({ past: [...past, seen(answer.text)].slice(-most(observer)) });
  }

  function showEpisodes(present) {
    const snapshots = answers.reads(present.observer) === "steps";
    byId("episodes").replaceChildren(...present.past.map((one, number) => thumbnail(one, number, snapshots)));
    byId("forget").disabled = !present.past.length;
  }

  function thumbnail(one, number, snapshot) {
    const [item, see, drop] = ["li", "button", "button"].map((tag) => document.createElement(tag));
    const { level, steps } = episode.split(one.text), world = scene.worldOf(scene.get());
    const states = episode.play(levels.parse(level, world), steps);
    const took = states.at(-1).took, time = Math.min(one.time, steps.length - 1);
    const sees = `The observer sees step ${time + 1} of ${steps.length}; press for the next.`;
    const press = snapshot ? sees : "Press to put it into the world.";
    Object.assign(see, { className: "see", title: press });
    see.append(picture(states, snapshot ? time : null));
    const short = `${steps.length} steps${took ? `, took ${took}` : ""}`;
    see.setAttribute("aria-label", `Past episode ${number + 1}: ${short}. ${press}`);
    see.addEventListener("click", () => (snapshot ? nextStep(number, steps.length) : scene.set({ level, steps })));
    Object.assign(drop, { className: "drop", textContent: "×" });
    drop.setAttribute("aria-label", `Forget past episode ${number + 1}`);
    drop.addEventListener("click", () => scene.set({ past: scene.get().past.toSpliced(number, 1) }));
    item.append(see, drop);
    return item;
  }

  /** A whole episode, or the one step of it that is seen. */
  function picture(states, time) {
    const svg = draw.element("svg", { class: "grid" }), cells = states.map((state) => state.agent);
    const seen = time === null ? cells : cells.slice(time, time + 2);
    draw.state(svg, { ...states[time ?? 0], agent: seen[0] }, { above: () => draw.way(svg, seen) });
    return svg;
  }

  function nextStep(number, length) {
    const { past } = scene.get(), one = past[number];
    scene.set({ past: past.with(number, { ...one, time: (one.time + 1) % length }) });
  }

  function showMap({ known, character }) {
    const { observer } = scene.get(), here = observer ? known[observer] : null;
    tomnet.map.draw(byId("map"), here, observer ? character : []);
    byId("map").parentElement.hidden = !observer;
    byId("map").toggleAttribute("hidden", answers.reads(observer) === "nothing");
    byId("map-caption").textContent = mapCaption(observer, here, character);
    byId("map").setAttribute("aria-label", byId("map-caption").textContent);
  }

  function mapCaption(observer, here, character) {
    if (!observer) return "";
    if (answers.reads(observer) === "nothing") return "This observer reads no past episodes: before the first step, all agents are the same to it.";
    if (!here) return "Known agents are being placed on the map…";
    const says = character.at(-1)?.deviation, { embedding } = answers.observer(observer);
    const plane = embedding > 2 ? ", first two principal axes" : "";
    const liked = answers.observer(observer).species === "random" ? "by what they do most" : "by what they like best";
    const map = `Character embedding${plane}: known agents ${liked}, and this one, the large dot, episode by episode.`;
    return `${map} ${says ? "The shade is one standard deviation." : "This observer does not say how sure it is."}`;
  }

  /** What only a server can do is there to be seen, and says so. */
  function needServer() {
    const { server, absent } = tomnet.source, deep = byId("kind").querySelector("[value=deep]");
    if (server) return;
    Object.assign(deep, { disabled: true, textContent: `${deep.textContent} (${absent})` });
    byId("file").disabled = true;
    byId("file").parentElement.title = `Reading files ${absent}`;
  }

  function begin() {
    makeSliders();
    needServer();
    listenDeep("");
    listenDeep("sally-");
    byId("kind").addEventListener("change", (event) => tomnet.trying(() => choose(defaults[event.target.value]())));
    tomnet.pressed("watch", watch);
    byId("forget").addEventListener("click", () => scene.set({ past: [] }));
    scene.listen((present) => [showAgent, showEpisodes].forEach((show) => show(present)));
    answers.listen(showMap);
  }

  tomnet.past = { begin, most, seen, choose, fillDeep, options };
})(window.tomnet);
