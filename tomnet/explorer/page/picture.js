"use strict";
/* The picture of panel c: what the observer, the exact observer or the agent itself says, or where two of them differ. */
(function (tomnet) {
  const { scene, answers, draw, level: levels } = tomnet;
  const HEAD = { next: "action", field: "field", successor: "successor", belief: "belief" };
  const WORDS = {
    next: () => "Arrows: the longer, the likelier. A ring: it stays.",
    field: () => "From every cell the mean step: the longer, the surer.",
    successor: () => "Shade: its share of the time to come; with a larger discount, of more of it.",
    belief: (letter) => `Circles: where it believes ${letter} is, as large as likely. Cross: where it is.`,
  };
  const says = (more) => (other) =>
    `Blue: the observer says ${more}; the other colour: ${other} does. Where there is neither, they agree.`;
  const APART = {
    next: says("more likely"),
    field: (other) => `Blue: the observer; the other colour: ${other}. The stronger the yellow, the more they disagree.`,
    successor: says("more time"),
    belief: says("more likely"),
  };

  const said = (who) => (who === "observer" ? answers.get().said : answers.get().beside[who]);
  const head = (who, what) => said(who)?.[HEAD[what]] ?? null;
  /** Whom the observer is compared with: the exact one, where there is one. */
  const beside = (what) => ["ideal", "agent"].find((who) => head(who, what)) ?? null;
  const canDraw = (who, what) => Boolean(who === "difference" ? head("observer", what) && beside(what) : head(who, what));
  const letter = ({ kind }) => levels.OBJECTS[scene.worldOf(scene.get())][kind];

  /** What is to be drawn, by whom: an answer as it is; of two, how much more each says than the other. */
  function parts(who, what, numbers = (kind) => head(kind, what)) {
    if (who !== "difference") return [[who, numbers(who)]];
    const [mine, other] = [numbers("observer"), numbers(beside(what))];
    const more = (one, two) => one.map((number, place) => Math.max(number - two[place], 0));
    return [["observer", more(mine, other)], [beside(what), more(other, mine)]];
  }

  function next(svg, now, { who }) {
    const arrows = ([kind, probabilities]) => draw.policy(svg, now.agent, probabilities, kind);
    draw.state(svg, now, { above: () => parts(who, "next").forEach(arrows) });
  }

  /** Two fields are drawn in each other, on a shade of how much they disagree. */
  function field(svg, now, { who }) {
    const both = who === "difference" ? [beside("field"), "observer"] : [who], [one, other] = both.map((kind) => head(kind, "field"));
    const apart = (policy, cell) => policy.reduce((sum, part, action) => sum + Math.abs(part - other[cell][action]) / 2, 0);
    draw.state(svg, now, {
      floor: () => other && draw.heat(svg, one.map(apart), "apart", 1),
      above: () => both.forEach((kind) => draw.field(svg, now, head(kind, "field"), kind)),
    });
  }

  function successor(svg, now, { who, gamma }) {
    const shares = (kind) => head(kind, "successor")[tomnet.catalogue.gammas.indexOf(gamma)].flat();
    const largest = who === "difference" ? Math.max(...shares("observer"), ...shares(beside("successor"))) : undefined;
    const heat = ([kind, each]) => draw.heat(svg, each, `heat ${kind}`, largest);
    draw.state(svg, now, { hollow: true, floor: () => parts(who, "successor", shares).forEach(heat) });
  }

  function belief(svg, now, { who, ...show }) {
    const places = (kind) => head(kind, "belief")[show.kind];
    const circles = ([kind, each]) => draw.belief(svg, each, who === "difference" ? kind : draw.kindOf(letter(show)));
    draw.state(svg, now, { objects: {}, above: () => {
      parts(who, "belief", places).forEach(circles);
      if (letter(show) in now.objects) draw.cross(svg, now.objects[letter(show)]);
    } });
  }

  const show = (svg, now, shown) => ({ next, field, successor, belief })[shown.what](svg, now, shown);

  /** How the picture is read. */
  function inWords(shown) {
    const { what, who } = shown;
    if (who !== "difference") return WORDS[what](letter(shown));
    return APART[what](beside(what) === "ideal" ? "the ideal observer" : "the agent itself");
  }

  tomnet.picture = { said, head, canDraw, show, inWords };
})(window.tomnet);
