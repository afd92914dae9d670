"use strict";
/* Sally and Anne: the truth, what the agent sees of it, what it believes, and what the observer says. */
(function (tomnet) {
  const { scene, answers, draw, level: levels, episode, past } = tomnet;
  const byId = (id) => document.getElementById(id);
  const WAYS = { u: "up", d: "down", l: "left", r: "right" };
  const SHADES = "Dashed: what it sees now. Faint shade: what it saw before. Strong shade: what it never saw.";
  const SURE = 0.5; // of where it is: below that, a belief is a guess

  let acquainting = false, told = null; // the level that the sentence is about

  const liked = () => "ABCD"[scene.get().agent.preferred];
  const condition = () => tomnet.catalogue.conditions.find((each) => each.name === scene.get().agent.condition);
  const likeliest = (numbers) => numbers.indexOf(Math.max(...numbers));

  /** Below a panel for the eye, and as its name for the ear. */
  function caption(id, words) {
    const figure = byId(id).parentElement;
    figure.querySelector("figcaption").textContent = words;
    byId(id).setAttribute("aria-label", `${figure.querySelector("h2").lastChild.textContent.trim()}. ${words}`);
  }

  /** An observer that knows agents by their past is shown as much of it as it is used to. */
  async function acquaint() {
    if (acquainting) return;
    acquainting = true;
    await tomnet.trying(async () => {
      while (isStranger(scene.get())) {
        const { agent } = scene.get(), answer = await tomnet.source.watch({ agent, seed: tomnet.seed() });
        const present = scene.get();
        if (!answer || present.agent !== agent || !isStranger(present)) continue;
        scene.set({ past: [...present.past, past.seen(answer.text)] }, { quiet: true });
      }
    });
    acquainting = false;
  }

  const isStranger = ({ view, observer, past: seen }) =>
    view === "sally" && observer !== null && seen.length < answers.observer(observer).min_past;

  /** Along the way of the story as far as it goes; from there on the agent acts by itself. */
  async function step() {
    const { way, steps } = scene.get(), led = way?.[steps.length];
    if (led) scene.set({ steps: [...steps, episode.step(scene.now(), WAYS[led])] });
    else await tomnet.world.act();
  }

  /** What it likes changes places with the object that is furthest away. */
  function swap() {
    const now = scene.now(), mine = liked();
    const others = Object.keys(now.objects).filter((letter) => letter !== mine && letter !== "*");
    const far = (letter) => levels.distance(now.agent, now.objects[letter]);
    const other = others.sort((one, two) => far(two) - far(one))[0];
    const moved = (letter, cell) => `moved ${letter} ${levels.rowCol(cell).join(" ")}`;
    const events = [moved(mine, now.objects[other]), moved(other, now.objects[mine])];
    const { steps } = scene.get();
    scene.set({ steps: [...steps.slice(0, -1), [steps.at(-1), ...events].join("\n")] });
  }

  // --- The four panels

  function truth(now, states) {
    const first = states[0].objects;
    draw.state(byId("truth"), now, { above: (svg) => draw.way(svg, states.map((state) => state.agent), { ended: false }) });
    const moved = Object.keys(now.objects).filter((letter) => now.objects[letter] !== first[letter]);
    caption("truth", moved.length ? `${moved.join(" and ")} have changed places.` : `The agent likes ${liked()}.`);
  }

  function sees(now, states) {
    const { reach } = condition(), cells = states.map((state) => state.agent);
    const sees = (from, cell) => levels.distance(from, cell) <= reach;
    const objects = Object.entries(now.objects).filter(([, cell]) => sees(now.agent, cell));
    const walls = now.walls.map((wall, cell) => wall && cells.some((from) => sees(from, cell)));
    draw.state(byId("sees"), { ...now, walls }, {
      objects: Object.fromEntries(objects),
      floor: (svg) => draw.fog(svg, cells, reach),
      above: (svg) => draw.view(svg, now.agent, reach),
    });
    caption("sees", reach < 0 ? "It is blind." : SHADES);
  }

  function believes(now, mind) {
    draw.state(byId("believes"), now, { objects: {}, above: (svg) => {
      if (!mind) return;
      draw.belief(svg, beliefOf(mind), draw.kindOf(liked()));
      if (liked() in now.objects) draw.cross(svg, now.objects[liked()]);
      draw.policy(svg, now.agent, mind.action, "agent");
    } });
    caption("believes", `Circles: where it believes ${liked()} is. Cross: where it is. Arrows: what it does next.`);
  }

  function says(now, said) {
    const svg = byId("says"), waiting = scene.get().observer !== null, nobody = { ...now, walls: [], agent: -9 * levels.SIZE };
    draw.state(svg, said ? now : nobody, { objects: {}, above: () => {
      if (!said) return draw.note(svg, waiting ? ["…"] : ["No observer of these agents", "is in the zoo yet."]);
      if (said.belief) draw.belief(svg, beliefOf(said), draw.kindOf(liked()));
      draw.policy(svg, now.agent, said.action, "observer");
    } });
    caption("says", waiting ? saying(scene.get()) : "The other three panels need none.");
  }

  function saying(present) {
    const { observer, past: { length } } = present, past = `${length} other episode${length === 1 ? "" : "s"} of this agent`;
    const met = answers.reads(observer) === "nothing" ? `${observer} reads no past episodes.` : `${observer} has seen ${past}.`;
    const never = tomnet.prediction.isStranger(present) ? " It never met an agent like this." : "";
    const beliefs = answers.observer(observer).heads.includes("belief");
    const circles = beliefs ? "Circles: where it says the agent believes it is." : "It says nothing of beliefs.";
    return `${met}${never} ${circles} Arrows: what it says the agent does next.`;
  }

  // --- In a sentence

  function moral(now, mind, said) {
    if (!mind) return episode.over(scene.states(), "subgoal") || "";
    const here = now.objects[liked()];
    if (here === undefined) return `${liked()} is not there any more.`;
    return `${verdict(mind, here)} ${noticed(mind, said, here)} ${next(mind, said)}`;
  }

  const beliefOf = ({ belief }) => belief[scene.get().agent.preferred];

  function verdict(mind, here) {
    const belief = beliefOf(mind), place = likeliest(belief), sure = belief[place].toFixed(2);
    const it = `${liked()} is at ${levels.inWords(here)}`, there = place === levels.SIZE ** 2 ? "gone" : `at ${levels.inWords(place)}`;
    if (belief[place] < SURE) return `No firm belief: the agent does not know where ${liked()} is (at most ${sure} anywhere).`;
    if (place === here) return `A true belief: ${it}, and the agent believes so (${sure}).`;
    return `A false belief: ${it}, and the agent believes it is ${there} (${sure}).`;
  }

  function noticed(mind, said, here) {
    if (!said) return "No observer is there yet to notice.";
    const foreseen = likeliest(said.action) === likeliest(mind.action) ? "foresees" : "does not foresee";
    if (!said.belief) return `The observer says nothing of beliefs, and ${foreseen} the next step.`;
    const [own, belief] = [mind, said].map(beliefOf), place = likeliest(own), most = Math.max(...belief);
    const firm = own[place] >= SURE, sure = most >= SURE;
    if (firm && !sure) return `The observer cannot tell what the agent believes (at most ${most.toFixed(2)} anywhere).`;
    if (sure && (!firm || likeliest(belief) !== place)) return "The observer did not notice: it says the agent believes otherwise.";
    return firm && place !== here ? "The observer noticed: it says the agent believes just that." : "The observer says so too.";
  }

  /** The sentence stays until the next one is known: of what was said of the scene as it was, a wrong one would be made. */
  function tell({ level }, sentence) {
    const { busy } = answers.get();
    byId("moral").classList.toggle("waiting", busy);
    if (busy && level === told) return;
    byId("moral").textContent = busy ? "…" : sentence();
    told = level;
  }

  function next(mind, said) {
    const step = likeliest(mind.action), action = tomnet.catalogue.actions[step], observer = said?.action[step].toFixed(2);
    const does = action === "stay" ? "It stays" : `It goes ${action}`;
    return `${does} with probability ${mind.action[step].toFixed(2)}${said ? `, and the observer says ${observer}` : ""}.`;
  }

  function show() {
    const present = scene.get(), story = present.view === "sally";
    byId("sally").hidden = !story;
    byId("explore").hidden = story;
    if (!story) return;
    const states = scene.states(), now = states.at(-1), over = episode.over(states, "subgoal"), { said, beside } = answers.get();
    const mind = !over && beside.agent?.belief ? beside.agent : null, observed = present.observer ? said : null;
    past.fillDeep("sally-", present.agent);
    truth(now, states);
    sees(now, states);
    believes(now, mind);
    says(now, observed);
    tell(present, () => moral(now, mind, observed));
    byId("sally-step").disabled = Boolean(over);
    byId("sally-swap").disabled = Boolean(over) || !present.steps.length || !(liked() in now.objects);
    byId("sally-restart").disabled = !present.steps.length;
  }

  tomnet.pressed("sally-step", step);
  byId("sally-swap").addEventListener("click", swap);
  byId("sally-restart").addEventListener("click", () => scene.set({ steps: [] }));
  scene.listen(show);
  scene.listen(acquaint);
  answers.listen(show);
})(window.tomnet);
