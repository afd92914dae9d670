"use strict";
/* Sharing: the address, the same in Python, and the picture. */
(function (tomnet) {
  const { scene, address } = tomnet;
  const byId = (id) => document.getElementById(id);
  const STROKES = ["stroke", "stroke-width", "stroke-linecap", "stroke-linejoin", "stroke-dasharray"];
  const STYLES = ["fill", "fill-opacity", ...STROKES, "opacity", "font", "text-anchor", "display"];
  const PIXELS = 800;

  async function copy(text, done) {
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      throw new Error("The browser does not let the page copy; select the address or the text instead.");
    }
    tomnet.say(done);
  }

  // --- Pictures

  /** What is shown, with its colours written into it: elsewhere there is no style sheet. */
  function svgText() {
    const shown = scene.get().view === "sally" ? ["truth", "sees", "believes", "says"] : ["level", "predicted"];
    const panels = shown.map((id) => inlined(byId(id))), gap = 0.6, size = tomnet.level.SIZE + 0.12;
    const viewBox = `0 0 ${panels.length * (size + gap) - gap} ${size}`;
    const whole = tomnet.draw.element("svg", { viewBox, width: PIXELS * panels.length, height: PIXELS });
    tomnet.draw.add(whole, "rect", { width: "100%", height: "100%", fill: getComputedStyle(document.body).backgroundColor });
    panels.forEach((panel, number) => {
      const box = { x: number * (size + gap), y: 0, width: size, height: size };
      for (const [name, value] of Object.entries(box)) panel.setAttribute(name, value);
      whole.append(panel);
    });
    return new XMLSerializer().serializeToString(whole);
  }

  function inlined(svg) {
    const copied = svg.cloneNode(true), originals = svg.querySelectorAll("*");
    copied.querySelectorAll("*").forEach((element, number) => {
      const style = getComputedStyle(originals[number]);
      element.setAttribute("style", STYLES.map((name) => `${name}:${style.getPropertyValue(name)}`).join(";"));
    });
    copied.querySelectorAll(".cursor").forEach((cursor) => cursor.remove());
    ["id", "class", "tabindex", "role"].forEach((name) => copied.removeAttribute(name));
    return copied;
  }

  const svgFile = () => new Blob([svgText()], { type: "image/svg+xml" });

  async function pngFile() {
    const image = new Image(), text = svgText(), [, width, height] = text.match(/width="(\d+)" height="(\d+)"/).map(Number);
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
