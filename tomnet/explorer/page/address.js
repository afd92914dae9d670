"use strict";
/* The whole scene in the address: `#1.…`, the version of the format and the scene. What does not fit is refused with a
   sentence, and the present scene stays. */
(function (tomnet) {
  const { scene, answers, level: levels, episode, past: pasts } = tomnet;
  const LONGEST = 60_000;
  const isIndex = (number, list) => Number.isInteger(number) && number >= 0 && number < list.length;
  const isShare = (number) => typeof number === "number" && number >= 0 && number <= 1;
  const areShares = (numbers, length) => Array.isArray(numbers) && numbers.length === length && numbers.every(isShare);
  const KINDS = {
    planner: ({ rewards, move_cost }) => areShares(rewards, 4) && isShare(move_cost),
    random: ({ policy }) => areShares(policy, 5),
    deep: ({ condition, network, preferred }) =>
      tomnet.catalogue.conditions.some(({ name, networks }) => name === condition && isIndex(network, networks)) &&
      isIndex(preferred, "ABCD"),
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
    const lacks = tomnet.source.lacks(found);
    if (lacks) throw new Error(lacks);
    return { ...found, name: found.name ?? null };
  }

  function fits(found) {
    try {
      const { name = null, view, agent, observer, level, steps, past, show, way } = found, world = scene.worldOf(found);
      levels.parse(level, world);
      return (
        Object.hasOwn(KINDS, agent.kind) &&
        KINDS[agent.kind](agent) &&
        (name === null || tomnet.catalogue.scenes.some((each) => each.name === name)) &&
        (view === "explore" || (view === "sally" && world === "subgoal")) &&
        (observer === null || answers.observer(observer).world === world) &&
        areTexts(steps) &&
        (way === null || (areTexts(way) && way.every((letter) => /^[udlr]$/.test(letter)))) &&
        past.length <= pasts.most(observer) &&
        past.every((each) => isPast(each, world)) &&
        ["next", "field", "successor", "belief"].includes(show.what) &&
        ["observer", "ideal", "agent", "difference"].includes(show.who) &&
        tomnet.catalogue.gammas.includes(show.gamma) &&
        isIndex(show.kind, levels.OBJECTS.subgoal)
      );
    } catch {
      return false;
    }
  }

  const areTexts = (list) => Array.isArray(list) && list.every((each) => typeof each === "string");

  function isPast({ text, time }, world) {
    const { level, steps } = episode.split(text), most = tomnet.catalogue.worlds[world].step_limit;
    episode.play(levels.parse(level, world), steps);
    return steps.length >= 1 && steps.length <= most && Number.isInteger(time) && time >= 0;
  }

  const keep = (present) => history.replaceState(null, "", write(present));
  tomnet.address = { write, read, keep };
})(window.tomnet);
