"use strict";
/* What is said of the present scene. Every change of the scene asks again; an answer that comes late is dropped. */
(function (tomnet) {
  const { scene } = tomnet;
  const WAIT = 25; // milliseconds in which a drag makes one question of many
  const answers = { known: {}, busy: false };
  const listeners = [];
  const NOTHING = { said: null, character: [], remarks: [], beside: { ideal: null, agent: null } };
  let asked = 0, timer = null, world = null;

  const observer = (name) => tomnet.catalogue.observers.find((each) => each.name === name) || null;
  const everywhere = ({ show }) => show.what === "field";
  const tell = () => listeners.forEach((listener) => listener(answers));

  function question(present) {
    return { observer: present.observer, past: present.past, now: scene.text(present), everywhere: everywhere(present) };
  }

  /** Once the scene stands still. What was said of another world does not fit this one. */
  function later(present) {
    if (scene.worldOf(present) !== world) Object.assign(answers, NOTHING);
    world = scene.worldOf(present);
    answers.busy = true;
    asked += 1; // what was asked of the scene as it was is heard no more
    clearTimeout(timer);
    timer = setTimeout(ask, WAIT);
  }

  async function ask() {
    const present = scene.get(), mine = asked;
    if (tomnet.episode.over(scene.states(present), scene.worldOf(present))) {
      Object.assign(answers, { ...NOTHING, character: answers.character, busy: false });
      tell();
      return;
    }
    tell();
    try {
      const asking = present.observer && tomnet.source.ask(question(present));
      if (asking) await hear(asking, mine, (answer) => Object.assign(answers, answer));
      else Object.assign(answers, { said: null, character: [], remarks: [] });
      if (tomnet.source.beside) {
        const compare = tomnet.source.beside({ ...question(present), agent: present.agent });
        await hear(compare, mine, (answer) => (answers.beside = answer));
      }
      if (mine === asked) answers.busy = false;
      if (present.observer) map(present.observer);
    } catch (error) {
      if (mine !== asked) return;
      answers.busy = false;
      tomnet.say(error.message);
    }
    tell();
  }

  async function hear(answer, mine, use) {
    const heard = await answer;
    if (heard && mine === asked) {
      use(heard);
      tell();
    }
  }

  /** The map of an observer's known agents takes a while, and is drawn once. */
  async function map(name) {
    if (!tomnet.source.known || name in answers.known) return;
    answers.known[name] = null;
    try {
      answers.known[name] = await tomnet.source.known(name);
    } catch {
      delete answers.known[name];
    }
    tell();
  }

  Object.assign(answers, NOTHING);
  scene.listen(later); // before anybody draws
  tomnet.answers = { get: () => answers, listen: (listener) => listeners.push(listener), observer };
})(window.tomnet);
