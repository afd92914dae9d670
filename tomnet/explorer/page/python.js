"use strict";
/* The lines of Python that give what is on the screen, with the public interface. */
(function (tomnet) {
  const { scene, answers, level: levels } = tomnet;
  const quoted = (text) => `"""\n${text.trim()}\n"""`;

  const READ = `with tempfile.TemporaryDirectory() as folder:
    for number, text in enumerate(PAST):
        (Path(folder) / "agent").mkdir(exist_ok=True)
        (Path(folder) / "agent" / f"{number}.txt").write_text(text)
    past = tomnet.read_recordings(folder) if PAST else []`;

  tomnet.python = function (present = scene.get()) {
    return `${(present.observer ? asked(present) : played(present)).join("\n")}\n`;
  };

  function asked(present) {
    const { observer, level } = present, reads = answers.reads(observer), past = reads === "nothing" ? [] : present.past;
    const times = past.map(({ time }) => time).join(", ");
    const snapshots = [
      `TIMES = [${times}]  # of each, the step that was seen`,
      "past = [recording.step(time) for recording, time in zip(past, TIMES)]",
    ];
    return [
      "import tempfile",
      "from pathlib import Path",
      "",
      "import tomnet",
      "",
      `PAST = [${past.map(({ text }) => quoted(text)).join(", ")}]`,
      `LEVEL = ${quoted(level)}`,
      "",
      READ,
      ...(reads === "steps" ? snapshots : []),
      `agent = tomnet.meet("${observer}", past)`,
      "episode = agent.begin(LEVEL)",
      ...scene.states(present).slice(1).map((state) => step(state, present)),
      "said = episode.ask()",
      "print(said)",
      ...shown(present),
    ];
  }

  /** The map that is on the screen, where the observer draws one. */
  function shown(present) {
    const { view, show, agent, observer } = present, { heads } = answers.observer(observer), world = scene.worldOf(present);
    const [what, kind] = view === "sally" ? ["belief", agent.preferred] : [show.what, show.kind];
    if (what === "field" && world === "maze") return fromEveryCell(present);
    if (!heads.includes(what)) return [];
    const name = { successor: show.gamma, belief: `"${levels.OBJECTS[world][kind]}"` }[what];
    return [`print(said.${what}[${name}].round(2))`];
  }

  const fromEveryCell = (present) => [
    "",
    `NOW = ${quoted(levels.format(scene.now(present)))}`,
    'free = NOW.strip().replace("@", ".")',
    "for place, sign in enumerate(free):",
    '    if sign == ".":',
    '        row, col = free[:place].count("\\n"), place % 12  # 11 cells and the end of the line',
    '        print(row, col, agent.ask(free[:place] + "@" + free[place + 1 :]).action)',
  ];

  /** One step; what the world did beside, such as a swap, is told as a picture. */
  function step(state, present) {
    const told = scene.worldOf(present) === "subgoal" ? `, ${quoted(levels.format(state))}` : "";
    return `episode = episode.step("${state.action}"${told})`;
  }

  /** Where nobody watches, the agent itself. */
  function played({ agent: { condition, network, preferred }, level }) {
    return [
      "import jax",
      "",
      "import tomnet",
      "",
      `LEVEL = ${quoted(level)}`,
      "",
      `agent = tomnet.load_agents("${condition}").agent(network=${network}, preferred=${preferred})`,
      "level = tomnet.parse_level(LEVEL, tomnet.SUBGOAL_MAZE)",
      "print(tomnet.play(jax.random.key(0), agent, level, tomnet.SUBGOAL_MAZE).actions)",
    ];
  }
})(window.tomnet);
