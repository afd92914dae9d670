"use strict";
/* Sharing: the address, the same in Python, and the picture. */
(function (tomnet) {
  const { scene, address } = tomnet, { add, element } = tomnet.draw;
  const byId = (id) => document.getElementById(id);
  const STROKES = ["stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"];
  const FONTS = ["font-family", "font-size", "font-weight", "text-anchor"];
  const STYLES = ["fill", "fill-opacity", ...STROKES, "opacity", ...FONTS]; // as attributes: the page allows no style of its own
  const PIXELS = 70; // of a cell
  const PANELS = { explore: ["level", "predicted"], sally: ["truth", "sees", "believes", "says"] };
  const SIDE = tomnet.level.SIZE + 0.12, GAP = 0.6, TITLE = 0.9, BELOW = 3; // in the units of a cell

  async function copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      throw new Error("The browser does not let the page copy; select the address or the text instead.");
    }
    tomnet.say(done);
  }

  // --- Pictures

  /** What is shown, in the units of a cell, with its colours written into it: elsewhere there is no style sheet. */
  function svgText() {
    const shown = PANELS[scene.get().view].map(byId), width = shown.length * (SIDE + GAP) - GAP;
    const box = { x: -GAP, y: -GAP, width: width + 2 * GAP, height: TITLE + SIDE + BELOW + 2 * GAP };
    const [wide, high] = [box.width, box.height].map((length) => Math.round(length * PIXELS));
    const whole = element("svg", { viewBox: Object.values(box).join(" "), width: wide, height: high });
    add(whole, "rect", { ...box, fill: getComputedStyle(document.body).backgroundColor });
    shown.forEach((panel, number) => {
      write(whole, title(panel), number * (SIDE + GAP), 0.5, 700);
      whole.append(inlined(panel, { x: number * (SIDE + GAP), y: TITLE, width: SIDE, height: SIDE }));
    });
    const below = (number) => TITLE + SIDE + 1 + 0.8 * number;
    if (scene.get().view === "sally") {
      inLines(byId("moral").textContent, width).forEach((line, number) => write(whole, line, 0, below(number)));
    } else {
      shownSigns().forEach((each, number) => writeSign(whole, each, below(number)));
      whole.append(...[...byId("bars").children].map(belowPrediction));
    }
    return new XMLSerializer().serializeToString(whole);
  }

  /** What the signs in the charts stand for. */
  const shownSigns = () => [...byId("legend").children].filter(({ hidden }) => !hidden);

  /** In the colour that it has in the charts: of what is hollow, that of its border. */
  function writeSign(svg, each, y) {
    const { backgroundColor, borderTopColor, borderTopWidth } = getComputedStyle(each.querySelector(".sign"));
    write(svg, each.dataset.sign, 0, y).setAttribute("fill", parseFloat(borderTopWidth) ? borderTopColor : backgroundColor);
    write(svg, each.textContent, 0.8, y);
  }

  const belowPrediction = (chart, number) =>
    inlined(chart, { x: SIDE + GAP + (number * SIDE) / 2, y: TITLE + SIDE + 0.4, width: SIDE / 2, height: BELOW - 0.4 });

  function title(panel) {
    const heading = panel.parentElement.querySelector("h2").textContent.trim().replace(/\s+/, "  ");
    return panel.id === "predicted" ? `${heading}: ${panel.getAttribute("aria-label").toLowerCase()}` : heading;
  }

  function write(svg, text, x, y, weight = 400) {
    const font = { "font-family": "DejaVu Sans, sans-serif", "font-size": 0.56, "font-weight": weight };
    return add(svg, "text", { x, y, fill: getComputedStyle(document.body).color, ...font }, text);
  }

  /** A sentence in lines that fit; a letter is about a third of a cell wide. */
  const inLines = (sentence, width) => sentence.match(new RegExp(`.{1,${Math.floor(width * 2.8)}}(\\s|$)`, "g")) ?? [];

  function inlined(svg, place) {
    const copied = svg.cloneNode(true), originals = svg.querySelectorAll("*");
    copied.querySelectorAll("*").forEach((element, number) => {
      const style = getComputedStyle(originals[number]);
      for (const name of STYLES) element.setAttribute(name, style.getPropertyValue(name));
    });
    copied.querySelectorAll(".cursor").forEach((cursor) => cursor.remove());
    ["id", "class", "tabindex", "role"].forEach((name) => copied.removeAttribute(name));
    for (const [name, value] of Object.entries(place)) copied.setAttribute(name, value);
    return copied;
  }

  const svgFile = () => new Blob([svgText()], { type: "image/svg+xml" });

  async function pngFile() {
    const image = new Image(), text = svgText(), [, width, height] = text.match(/ width="(\d+)" height="(\d+)"/).map(Number);
    image.src = `data:image/svg+xml;base64,${btoa(unescape(encodeURIComponent(text)))}`;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    return new Promise((done) => canvas.toBlob(done, "image/png"));
  }

  function save(blob, name) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  }

  // --- The menu

  function menu(open) {
    byId("share-menu").hidden = !open;
    byId("share").setAttribute("aria-expanded", open);
    if (open) byId("copy-link").focus();
  }

  function menuKey(event) {
    const items = [...byId("share-menu").children], here = items.indexOf(document.activeElement);
    const to = { ArrowDown: here + 1, ArrowUp: here - 1, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Escape") menu(false), byId("share").focus();
    else if (to !== undefined) items[(to + items.length) % items.length].focus(), event.preventDefault();
  }

  const chosen = (id, action) => byId(id).addEventListener("click", () => {
    menu(false);
    byId("share").focus(); // what was chosen is hidden now
    tomnet.trying(action);
  });
  byId("share").addEventListener("click", () => menu(byId("share-menu").hidden));
  byId("share-menu").addEventListener("keydown", menuKey);
  document.addEventListener("click", (event) => event.target.closest(".menu") || menu(false));
  const here = () => location.href.split("#")[0] + address.write(scene.get());
  chosen("copy-link", () => copy(here(), "The address is copied: it holds the whole scene."));
  chosen("copy-python", () => copy(tomnet.python(), "The Python lines are copied."));
  chosen("save-svg", () => save(svgFile(), "tomnet.svg"));
  chosen("save-png", async () => save(await pngFile(), "tomnet.png"));
  tomnet.copy = (text, done) => tomnet.trying(() => copy(text, done));
  tomnet.share = { svgText };
})(window.tomnet);
