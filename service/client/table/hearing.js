/**
 * What a listener is told of a game: what happened, in its order, and whose turn it is only after what led to
 * it. Loaded with the first change: of what happened before the first look nothing is told.
 */

/** @import { App, Game } from "../shell/types.js" */

/**
 * @param {App} app @param {import("../game/match.js").Match} match
 * @param {number} told the version up to which all was told
 * @param {(game: Game) => string} stateOf the state in a sentence; nothing where it is not worth telling
 */
export function createHearing(app, match, told, stateOf) {
  /** What is told before the state, once that is due. @type {string | undefined} */
  let due;
  return {
    /** Forgets the sentence before the state, which is for the player who was shown. */
    forget: () => void (due = undefined),
    /** Tells what is new. @param {Game} game @param {string} [before] if the state is due: a sentence before it, or "" */
    follow(game, before) {
      due = before ?? due;
      for (const { version, text } of match.events.filter((each) => each.version > told)) {
        told = version;
        if (text) app.tell(text);
      }
      // The answer to a move comes before the event that it made.
      if (due === undefined || told < game.version) return;
      const text = `${due} ${stateOf(game)}`.trim();
      due = undefined;
      if (text) app.tell(text);
    },
  };
}
