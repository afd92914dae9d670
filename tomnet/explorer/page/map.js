"use strict";
/* The map of known agents, and where the observer puts this one, after each past episode. */
(function (tomnet) {
  const { add } = tomnet.draw;
  const SHORT = { stay: "•" };
  const WIDTH = 320, HEIGHT = 200, MARGIN = 14;

  /** An embedding on the plane of the map. */
  const project = ({ axes, centre }, mean) =>
    axes.map((axis) => axis.reduce((sum, part, number) => sum + part * (mean[number] - centre[number]), 0));

  function draw(svg, known, characters) {
    svg.replaceChildren();
    svg.classList.add("chart");
    svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
    if (!known) return;
    const trail = characters.map((each) => project(known, each.mean));
    const place = scale([...known.points, ...trail]);
    known.points.forEach((point, number) => {
      const [x, y] = place(point), liked = known.favourite[number], sign = tomnet.bars.SIGNS[liked];
      if (sign) add(svg, "text", { class: "dot name", x, y: y + 4 }, SHORT[liked] ?? sign);
      else add(svg, "circle", { class: `dot kind-${liked}`, cx: x, cy: y, r: 3.6 });
    });
    if (!trail.length) return;
    add(svg, "polyline", { class: "trail", points: trail.map((point) => place(point).join(",")).join(" ") });
    for (const [x, y] of trail.slice(0, -1).map(place)) add(svg, "circle", { class: "seen", cx: x, cy: y, r: 2.6 });
    const [cx, cy] = place(trail.at(-1)), { deviation } = characters.at(-1);
    if (deviation) spread(svg, known, characters.at(-1), place);
    add(svg, "circle", { class: "here", cx, cy, r: 6 });
  }

  /** One standard deviation around the mean. */
  function spread(svg, known, { mean, deviation }, place) {
    const [cx, cy] = place(project(known, mean));
    const radii = known.axes.map((axis) => Math.hypot(...axis.map((part, number) => part * deviation[number])));
    const [right, top] = place(project(known, mean).map((part, axis) => part + radii[axis]));
    add(svg, "ellipse", { class: "spread", cx, cy, rx: right - cx, ry: cy - top });
  }

  function scale(points) {
    const ends = [0, 1].map((axis) => {
      const along = points.map((point) => point[axis]);
      return [Math.min(...along), Math.max(...along)];
    });
    const along = (value, [low, high], size) => MARGIN + ((value - low) / (high - low || 1)) * (size - 2 * MARGIN);
    return ([x, y]) => [along(x, ends[0], WIDTH), HEIGHT - along(y, ends[1], HEIGHT)];
  }

  tomnet.map = { draw };
})(window.tomnet);
