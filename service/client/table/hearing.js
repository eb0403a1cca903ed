/**
 * What a listener is told of a game: what happened, in its order, and whose turn it is only after what led to
 * it. Loaded with the first change: of what happened before the first look nothing is told.
 */

import { tileName } from "../game/names.js";
import { nameOf } from "./parts.js";

/** @import { App, Game, GameEvent } from "../shell/types.js" */

/**
 * @param {App} app @param {import("../game/match.js").Match} match
 * @param {number} told the version up to which all was told
 * @param {(game: Game) => string} stateOf the state in a sentence; nothing where it is not worth telling
 */
export function createHearing(app, match, told, stateOf) {
  /** What is told before the state, once that is due. @type {string | undefined} */
  let due;

  /** Several tiles that one seat drew, as one sentence. @param {GameEvent[]} draws @param {Game} game */
  const drawsText = (draws, game) => {
    const tiles = draws.flatMap(({ data }) => data.tile ?? []).map((each) => tileName(app.device.settings.language, each)).join(", ");
    const params = { count: draws.length, tiles, name: nameOf(game, draws[0].seat ?? 0) };
    return app.t(tiles ? "table.drew" : "table.othersDrew", params);
  };

  return {
    /** Forgets the sentence before the state, which is for the player who was shown. */
    forget: () => void (due = undefined),
    /** Tells what is new. @param {Game} game @param {string} [before] if the state is due: a sentence before it, or "" */
    follow(game, before) {
      due = before ?? due;
      /** @type {GameEvent[][]} */
      const runs = [];
      for (const event of match.events.filter((each) => each.version > told && each.text)) {
        const last = runs.at(-1)?.[0];
        if (event.type === "drew" && last?.type === "drew" && last.seat === event.seat) runs.at(-1)?.push(event);
        else runs.push([event]);
      }
      for (const run of runs) app.tell(run.length > 1 ? drawsText(run, game) : run[0].text ?? "");
      told = Math.max(told, match.events.at(-1)?.version ?? told);
      // The answer to a move comes before the event that it made.
      if (due === undefined || told < game.version) return;
      const text = `${due} ${stateOf(game)}`.trim();
      due = undefined;
      if (text) app.tell(text);
    },
  };
}
