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
  /** What it reads of past episodes: `"episodes"`, one of the `"steps"` of each, or `"nothing"`. */
  const reads = (name) => observer(name)?.reads ?? null;
  const everywhere = ({ show }) => show.what === "field";
  const tell = () => listeners.forEach((listener) => listener(answers));

  function question(present) {
    return { observer: present.observer, past: present.past, now: scene.text(present), everywhere: everywhere(present) };
  }

  /** At once, or where a question is under way, when the scene stands still. What was said of another world does not fit
      this one. */
  function later(present) {
    const wait = answers.busy ? WAIT : 0;
    if (scene.worldOf(present) !== world) Object.assign(answers, NOTHING);
    world = scene.worldOf(present);
    answers.busy = true;
    asked += 1; // what was asked of the scene as it was is heard no more
    clearTimeout(timer);
    timer = setTimeout(ask, wait);
  }

  async function ask() {
    const present = scene.get(), mine = asked;
    if (tomnet.episode.over(scene.states(present), scene.worldOf(present))) {
      Object.assign(answers, { ...NOTHING, character: answers.character, busy: false });
      tell();
      return;
    }
    try {
      const { source } = tomnet, compared = { ...question(present), agent: present.agent };
      if (present.observer) await hear(() => source.ask(question(present)), mine, (answer) => Object.assign(answers, answer));
      else Object.assign(answers, { said: null, character: [], remarks: [] });
      await hear(() => source.beside(compared), mine, (beside) => Object.assign(answers, { beside, busy: false }));
      if (["episodes", "steps"].includes(reads(present.observer))) map(present.observer);
    } catch (error) {
      if (mine !== asked) return;
      answers.busy = false;
      tomnet.say(error.message);
      tell();
    }
  }

  /** On their way an older question may overtake the newest, which the server then takes for superseded: it is asked
      again. Of a scene that has changed since, nothing more is asked. */
  async function hear(ask, mine, use) {
    let heard = null;
    while (!heard && mine === asked) heard = await ask();
    if (mine !== asked) return;
    use(heard);
    tell();
  }

  /** The map of an observer's known agents is asked for once; where it did not come, once more with the next question. */
  async function map(name) {
    if (name in answers.known) return;
    answers.known[name] = null;
    const drawn = await tomnet.source.known(name).catch(() => null);
    if (drawn) answers.known[name] = drawn;
    else delete answers.known[name];
    tell();
  }

  Object.assign(answers, NOTHING);
  scene.listen(later); // before anybody draws
  tomnet.answers = { get: () => answers, listen: (listener) => listeners.push(listener), observer, reads };
})(window.tomnet);
