"use strict";
/* Where answers come from. `tomnet.source` is the server here; a page without one puts another `ask` in its place, and
   leaves out what only a server can do. */
(function (tomnet) {
  const client = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => (byte % 36).toString(36)).join("");

  /** The answer; null where a newer question came first; an Error with the server's sentence otherwise. */
  async function post(path, question) {
    let response;
    try {
      response = await fetch(`api/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(question),
      });
    } catch {
      throw new Error("The server does not answer. Is `tomnet explore` still running?");
    }
    const answer = await response.json();
    if (answer.superseded) return null;
    if (!response.ok) throw new Error(answer.error);
    return answer;
  }

  tomnet.source = {
    server: true,
    /** Why an observer of the catalogue is not here, and what else a scene needs, in a sentence. */
    absent: "not in the zoo yet",
    lacks: ({ observer }) =>
      observer === null || tomnet.answers.observer(observer).here ? null : `The observer ${observer} is not in the zoo here.`,
    catalogue: async () => (await fetch("api/catalogue")).json(),
    /** `{observer, past: [{text, time}], now, everywhere}` → `{said, character, remarks}`. */
    ask: (question) => post("ask", { client, ...question }),
    beside: (question) => post("beside", { client, ...question }),
    act: (question) => post("act", { client, ...question }),
    watch: (question) => post("watch", { client, ...question }),
    known: (observer) => post("known-agents", { client, observer }),
    level: (subgoal, seed) => post("level", { client, subgoal, seed }),
    read: (text) => post("read", { text }),
  };
  tomnet.seed = () => Math.floor(Math.random() * 2 ** 32);
})(window.tomnet);
