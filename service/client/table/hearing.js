/**
 * What a listener is told of a game: each thing that happened, in its order, and whose turn it is only after what led to
 * it. Owns this order; what happened comes with sentences, and the state is put into words by who asks for it.
 */

/** @import { Match } from "../game/match.js" */
/** @import { App, Game } from "../shell/types.js" */

/**
 * @param {App} app @param {Match} match
 * @param {(game: Game) => string} stateOf the state in a sentence; nothing where it is not worth telling
 */
export function createHearing(app, match, stateOf) {
  /** The version up to which everything was told; nothing of what happened before the first look is. */
  let told = -1;
  /** What is to be told before the state, once that is due. @type {string | undefined} */
  let due;

  return {
    /** Tells what is new. @param {Game} game */
    follow(game) {
      if (told < 0) told = game.version;
      for (const event of match.events) {
        if (event.version <= told) continue;
        told = event.version;
        if (event.text) app.tell(event.text);
      }
      // The answer to a move comes before the event that it made.
      if (due === undefined || told < game.version) return;
      const text = `${due} ${stateOf(game)}`.trim();
      due = undefined;
      if (text) app.tell(text);
    },
    /** The state is to be told, after what led to it. @param {string} [before] a sentence before it */
    expect(before = "") {
      due = before;
    },
  };
}
