"use strict";
/* Agents that are simple enough to act in the page: random ones, and goal-driven ones, whose plan comes by value
   iteration as in `tomnet/agents/planner.py`. What becomes of them, the Markov chain of `tomnet/ideal/markov_chain.py`
   says. Only a page without a server needs it. */
(function (tomnet) {
  const { level: levels } = tomnet;
  const CELLS = levels.SIZE ** 2, ACTIONS = Object.keys(levels.MOVES);
  const SAME_VALUE = 1e-4; // actions whose values are nearer than this are equally good
  const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
  /** A random agent's policy is the same in every cell. */
  const always = ({ policy }) => grid(() => policy.map((often) => (sum(policy) ? often / sum(policy) : 1 / policy.length)));
  const grid = (fill) => Array.from({ length: CELLS }, fill);

  /** Where each action leads from each cell. */
  const leads = ({ walls }) => grid((_, cell) => ACTIONS.map((action) => levels.lead(walls, cell, action)));
  const objectAt = ({ objects }, cell) => Object.keys(objects).find((letter) => objects[letter] === cell);

  /** Every cell's policy: equal probability for each of the best actions. */
  function plan(level, { rewards, move_cost }, { wall_cost, step_limit }) {
    const total = sum(rewards), to = leads(level);
    const eaten = grid((_, cell) => objectAt(level, cell)).map((letter) => letter && rewards["ABCD".indexOf(letter)] / (total || 1));
    const lookAhead = (values) => to.map((targets, cell) => targets.map((target, action) => {
      if (target !== cell) return (eaten[target] ?? values[target]) - move_cost; // eating ends the episode
      return values[cell] - move_cost - (ACTIONS[action] === "stay" ? 0 : wall_cost);
    }));
    let values = grid(() => 0);
    for (let sweep = 1; sweep < step_limit; sweep++) values = lookAhead(values).map((each) => Math.max(...each));
    return lookAhead(values).map(best);
  }

  function best(values) {
    const most = Math.max(...values), good = values.map((value) => (value >= most - SAME_VALUE ? 1 : 0));
    return good.map((each) => each / sum(good));
  }

  /** What the agent will do from where it stands, as an observer would say it. */
  function future(level, policies, { gammas, step_limit, letters }) {
    const to = leads(level), ends = grid((_, cell) => objectAt(level, cell) !== undefined);
    const arrived = arrivals(level.agent, to, policies, ends, step_limit);
    const taken = (letter) => sum(arrived.map((mass) => mass[level.objects[letter]] ?? 0));
    const stands = (cell) => !level.walls[cell] && !ends[cell];
    return {
      action: policies[level.agent],
      consumption: [...letters].map(taken),
      successor: gammas.map((gamma) => inRows(successor(gamma, arrived, to, policies, ends))),
      belief: null,
      field: policies.map((policy, cell) => (stands(cell) ? policy : policy.map(() => 0))),
    };
  }

  /** The probability of arriving in each cell at each time; where an episode has ended, nothing goes on. */
  function arrivals(start, to, policies, ends, steps) {
    const times = [grid((_, cell) => (cell === start ? 1 : 0))];
    while (times.length <= steps) {
      const next = grid(() => 0);
      times.at(-1).forEach((mass, cell) => {
        if (mass && !ends[cell]) to[cell].forEach((target, action) => (next[target] += mass * policies[cell][action]));
      });
      times.push(next);
    }
    return times;
  }

  /** The discounted share of time in each cell; each way there is weighed by 1 over its own discounted length. */
  function successor(gamma, arrived, to, policies, ends) {
    const weights = arrived.map((_, time) => gamma ** time);
    let length = sum(weights), worth = grid(() => 1 / length), map = grid(() => 0);
    for (let time = arrived.length - 1; time >= 0; time--) {
      if (time < arrived.length - 1) {
        const later = worth, ended = 1 / length;
        worth = grid((_, cell) => ends[cell] ? ended : sum(to[cell].map((target, action) => later[target] * policies[cell][action])));
      }
      map = map.map((share, cell) => share + weights[time] * arrived[time][cell] * worth[cell]);
      length -= weights[time];
    }
    return map;
  }

  const inRows = (map) => Array.from({ length: levels.SIZE }, (_, row) => map.slice(row * levels.SIZE, (row + 1) * levels.SIZE));

  tomnet.planner = { plan, always, future, inRows };
})(window.tomnet);
