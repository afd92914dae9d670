"use strict";
/* Sally and Anne: the truth, what the agent sees of it, what it believes, and what the observer says. */
(function (tomnet) {
  const { scene, answers, draw, level: levels, episode, past } = tomnet;
  const byId = (id) => document.getElementById(id);
  const WAYS = { u: "up", d: "down", l: "left", r: "right" };
  const SAID = "Circles: where it says the agent believes it is. Arrows: what it says the agent does next.";
  const SURE = 0.5; // of where it is: below that, a belief is a guess

  let acquainting = false;

  const liked = () => "ABCD"[scene.get().agent.preferred];
  const condition = () => tomnet.catalogue.conditions.find((each) => each.name === scene.get().agent.condition);
  const likeliest = (numbers) => numbers.indexOf(Math.max(...numbers));
  const caption = (id, words) => (byId(id).parentElement.querySelector("figcaption").textContent = words);

  /** An observer that knows agents by their past is shown as much of it as it is used to. */
  async function acquaint(present) {
    const wanted = present.view === "sally" && present.observer ? answers.observer(present.observer).min_past : 0;
    if (present.past.length >= wanted || acquainting) return;
    acquainting = true;
    await tomnet.trying(async () => {
      const { text } = await tomnet.source.watch({ agent: present.agent, seed: tomnet.seed() });
      const same = scene.get().agent === present.agent && scene.get().view === "sally";
      acquainting = false;
      if (same) scene.set({ past: [...scene.get().past, past.seen(text)] }, { quiet: true });
    });
    acquainting = false;
  }

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
    const near = ([, cell]) => levels.distance(now.agent, cell) <= reach;
    const visible = Object.fromEntries(Object.entries(now.objects).filter(near));
    draw.state(byId("sees"), now, {
      objects: visible,
      floor: (svg) => draw.fog(svg, cells, reach),
      above: (svg) => draw.view(svg, now.agent, reach),
    });
    caption("sees", reach < 0 ? "It is blind." : "Dashed: what it sees now. Light: what it saw before.");
  }

  function believes(now, mind) {
    const kind = scene.get().agent.preferred;
    draw.state(byId("believes"), now, { objects: {}, above: (svg) => {
      if (!mind) return;
      draw.belief(svg, mind.belief[kind], liked());
      if (liked() in now.objects) draw.cross(svg, now.objects[liked()]);
      draw.policy(svg, now.agent, mind.action, "agent");
    } });
    caption("believes", `Circles: where it believes ${liked()} is. Cross: where it is. Arrows: what it does next.`);
  }

  function says(now, said) {
    const svg = byId("says"), nobody = { ...now, walls: [], agent: -9 * levels.SIZE };
    draw.state(svg, said ? now : nobody, { objects: {}, above: () => {
      if (!said) return draw.note(svg, ["No observer of these agents", "is in the zoo yet."]);
      if (said.belief) draw.belief(svg, said.belief[scene.get().agent.preferred], liked());
      draw.policy(svg, now.agent, said.action, "observer");
    } });
    caption("says", said ? SAID : "It is being trained. The other three panels need none.");
  }

  // --- In a sentence

  function moral(now, mind, said) {
    if (!mind) return answers.get().busy ? "…" : episode.over(scene.states(), "subgoal") || "";
    const kind = scene.get().agent.preferred, here = now.objects[liked()];
    if (here === undefined) return `${liked()} is not there any more.`;
    const belief = mind.belief[kind], place = likeliest(belief), action = tomnet.catalogue.actions[likeliest(mind.action)];
    const next = `It goes ${action} with probability ${Math.max(...mind.action).toFixed(2)}.`;
    return `${verdict(belief, place, here)} ${next} ${noticed(mind, said, place)}`;
  }

  function verdict(belief, place, here) {
    const sure = belief[place].toFixed(2), it = `${liked()} is at ${levels.inWords(here)}`;
    const there = place === levels.SIZE ** 2 ? "gone" : `at ${levels.inWords(place)}`;
    if (place === here) return `A true belief: ${it}, and the agent believes so (${sure}).`;
    if (belief[place] < SURE) return `No firm belief: the agent does not know where ${liked()} is (at most ${sure} anywhere).`;
    return `A false belief: ${it}, and the agent believes it is ${there} (${sure}).`;
  }

  function noticed(mind, said, place) {
    if (!said) return "No observer is there yet to notice.";
    const foreseen = likeliest(said.action) === likeliest(mind.action);
    if (!said.belief) return foreseen ? "The observer foresees that step." : "The observer expects another step.";
    const right = likeliest(said.belief[scene.get().agent.preferred]) === place;
    if (right) return "The observer noticed: it says the agent believes just that.";
    return "The observer did not notice: it says the agent believes otherwise.";
  }

  function show() {
    const present = scene.get(), story = present.view === "sally";
    byId("sally").hidden = !story;
    byId("explore").hidden = story;
    if (!story) return;
    const states = scene.states(), now = states.at(-1), over = episode.over(states, "subgoal"), { said, beside } = answers.get();
    const mind = !over && beside.agent?.belief ? beside.agent : null, told = present.observer ? said : null;
    past.fillDeep("sally-", present.agent);
    truth(now, states);
    sees(now, states);
    believes(now, mind);
    says(now, told);
    byId("moral").textContent = moral(now, mind, told);
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
