"use strict";
/* Drawing in the level: walls painted, things dragged, the agent walked; with a pointer, a finger or the keyboard. */
(function (tomnet) {
  const { level: levels, scene, episode, draw } = tomnet;
  const ARROWS = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "left", ArrowRight: "right" };
  const HINTS = { build: "Draw walls, drag what is there.", walk: "Click beside the agent, drag, or use the arrow keys." };
  const WALKED = { ...ARROWS, w: "up", s: "down", a: "left", d: "right", " ": "stay" };
  const svg = document.getElementById("level");
  let tool = "build", cursor = 60, hand = null; // what a drag is doing: {wall}, {sign} or {walk}

  /** The cell below a pointer, or null. */
  function cellAt(event) {
    const box = svg.getBoundingClientRect(), side = Math.min(box.width, box.height);
    const col = Math.floor(((event.clientX - box.left - (box.width - side) / 2) / side) * levels.SIZE);
    const row = Math.floor(((event.clientY - box.top - (box.height - side) / 2) / side) * levels.SIZE);
    const inside = row >= 0 && row < levels.SIZE && col >= 0 && col < levels.SIZE;
    return inside ? row * levels.SIZE + col : null;
  }

  function press(event) {
    const cell = cellAt(event);
    if (cell === null) return;
    event.preventDefault();
    svg.focus({ preventScroll: true });
    try {
      svg.setPointerCapture(event.pointerId);
    } catch {
      // a pointer that is gone already has nothing to capture
    }
    cursor = cell;
    const now = scene.now(), sign = levels.contents(now, cell);
    if (tool === "walk") {
      hand = { walk: true };
      walkTo(cell);
    } else if (sign) hand = { sign };
    else paint((hand = { wall: !now.walls[cell] }), cell);
  }

  function drag(event) {
    const cell = cellAt(event);
    if (!hand || cell === null || cell === cursor) return;
    cursor = cell;
    if (hand.walk) walkTo(cell);
    else if (hand.sign) put(hand.sign, cell, hand);
    else paint(hand, cell);
  }

  function paint(hand, cell) {
    if (levels.contents(scene.now(), cell) || scene.now().walls[cell] === hand.wall) return;
    scene.edit((level) => (level.walls[cell] = hand.wall), { gesture: hand });
  }

  /** A thing to a cell; one that lies there already stays where it is. */
  function put(sign, cell, gesture = null) {
    if (levels.contents(scene.now(), cell)) return;
    scene.edit((level) => {
      level.walls[cell] = false;
      if (sign === "@") level.agent = cell;
      else level.objects[sign] = cell;
    }, { gesture });
  }

  function walkTo(cell) {
    const now = scene.now(), action = levels.between(now.walls, now.agent, cell);
    if (action) walk(action);
  }

  function walk(action) {
    const over = episode.over(scene.states(), scene.worldOf(scene.get()));
    if (over) tomnet.say(over);
    else scene.set({ steps: [...scene.get().steps, episode.step(scene.now(), action)] });
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const used = tool === "walk" ? walkKey(event) : buildKey(event);
    if (used) event.preventDefault();
  }

  function walkKey({ key }) {
    if (!(key in WALKED)) return false;
    walk(WALKED[key]);
    return true;
  }

  function buildKey({ key }) {
    const objects = levels.OBJECTS[scene.worldOf(scene.get())], sign = key.toUpperCase(), now = scene.now();
    const there = levels.contents(now, cursor);
    if (key in ARROWS) cursor = levels.lead([], cursor, ARROWS[key]);
    else if ((key === " " || key === "Enter") && !there) scene.edit((level) => (level.walls[cursor] = !level.walls[cursor]));
    else if (objects.includes(sign) || sign === "@") put(sign, cursor);
    else if (["Delete", "Backspace"].includes(key) && there && there !== "@") scene.edit((level) => delete level.objects[there]);
    else return false;
    show();
    return true;
  }

  function show() {
    const states = scene.states(), now = states.at(-1);
    const way = () => draw.way(svg, states.map((state) => state.agent), { ended: false });
    draw.state(svg, now, { above: () => states.length > 1 && way() });
    draw.add(svg, "rect", draw.square(cursor, "cursor", 0.04));
    svg.classList.toggle("walking", tool === "walk");
    if (document.activeElement === svg) document.getElementById("cursor").textContent = said(now);
  }

  function said(now) {
    const there = levels.contents(now, cursor), named = { "@": "the agent", "*": "the subgoal" };
    const what = there ? named[there] ?? `object ${there}` : now.walls[cursor] ? "a wall" : "free";
    return tool === "walk" ? `The agent is at ${levels.inWords(now.agent)}.` : `${levels.inWords(cursor)}: ${what}.`;
  }

  svg.addEventListener("pointerdown", press);
  svg.addEventListener("pointermove", drag);
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => (hand = null));
  svg.addEventListener("keydown", key);
  svg.addEventListener("focus", show);
  for (const radio of document.querySelectorAll("input[name=tool]")) {
    radio.addEventListener("change", () => {
      tool = radio.value;
      document.getElementById("cursor").textContent = HINTS[tool];
      show();
    });
  }
  scene.listen(show);
})(window.tomnet);
