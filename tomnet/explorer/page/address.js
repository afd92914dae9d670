"use strict";
/* The whole scene in the address: `#1.…`, the version of the format and the scene. What does not fit is refused with a
   sentence, and the present scene stays. */
(function (tomnet) {
  const { scene, answers, level: levels } = tomnet;
  const LONGEST = 60_000;
  const KINDS = {
    planner: ({ rewards, move_cost }) =>
      rewards.length === 4 && [...rewards, move_cost].every((number) => number >= 0 && number <= 1),
    deep: ({ condition, network, preferred }) =>
      tomnet.catalogue.conditions.some(({ name, networks }) => name === condition && network in networks) &&
      [0, 1, 2, 3].includes(preferred),
  };

  function write(present) {
    const bytes = new TextEncoder().encode(JSON.stringify(present));
    const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return `#${tomnet.catalogue.format}.${letters.replace(/\+/g, "-").replace(/\//g, "_").replace(/=/g, "")}`;
  }

  /** The scene of an address, or an Error whose message is a sentence. */
  function read(hash) {
    const [, version, letters] = hash.match(/^#([0-9]+)\.([A-Za-z0-9_-]+)$/) || [];
    if (!version || hash.length > LONGEST) throw new Error("This address holds no scene.");
    const { format } = tomnet.catalogue;
    if (Number(version) !== format) {
      throw new Error(`This address was made by another version of the page (format ${version}, here ${format}).`);
    }
    let found;
    try {
      const bytes = Uint8Array.from(atob(letters.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
      found = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    } catch {
      throw new Error("This address is damaged: a part of it may be missing.");
    }
    if (!fits(found)) throw new Error("This address holds no scene of this page.");
    return found;
  }

  function fits(found) {
    const texts = (list) => Array.isArray(list) && list.every((each) => typeof each === "string");
    try {
      const { view, agent, observer, level, steps, past, show, way } = found;
      const world = scene.worldOf(found), chosen = observer === null ? null : answers.observer(observer);
      levels.parse(level, world);
      return (
        ["explore", "sally"].includes(view) &&
        KINDS[agent.kind](agent) &&
        (chosen === null || (chosen.here && chosen.world === world)) &&
        texts(steps) &&
        (way === null || texts(way)) &&
        texts(past.map(({ text }) => text)) &&
        past.length <= 10 &&
        past.every(({ time }) => Number.isInteger(time) && time >= 0) &&
        ["next", "field", "successor", "belief"].includes(show.what) &&
        ["observer", "ideal", "agent", "difference"].includes(show.who) &&
        tomnet.catalogue.gammas.includes(show.gamma) &&
        show.kind in [...levels.OBJECTS.subgoal]
      );
    } catch {
      return false;
    }
  }

  const keep = (present) => history.replaceState(null, "", write(present));
  tomnet.address = { write, read, keep };
})(window.tomnet);
