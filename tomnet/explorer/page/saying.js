"use strict";
/* What is said to the person at the screen, and what happens when something goes wrong. */
(function (tomnet) {
  const byId = (id) => document.getElementById(id);
  const SAID_FOR = 6_000; // milliseconds
  let fading = null;

  /** A sentence for the person at the screen. */
  tomnet.say = function (sentence) {
    byId("say").textContent = sentence;
    byId("say").hidden = false;
    clearTimeout(fading);
    fading = setTimeout(() => (byId("say").hidden = true), SAID_FOR);
  };

  /** What goes wrong is said, and what was there stays. */
  tomnet.trying = async function (action) {
    try {
      await action();
    } catch (error) {
      tomnet.say(error.message);
    }
  };

  /** A press of a button that takes a while; pressed again meanwhile, it does nothing more. */
  tomnet.pressed = (id, action) => byId(id).addEventListener("click", async () => {
    const button = byId(id);
    if (button.getAttribute("aria-busy") === "true") return;
    button.setAttribute("aria-busy", "true");
    await tomnet.trying(action);
    button.setAttribute("aria-busy", "false");
  });
})(window.tomnet);
