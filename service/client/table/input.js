/**
 * How what a person does at the table becomes a move: the keys, in one table of key and action, the letters the same in
 * all languages; what is chosen, a tile of the hand and, where it has several, a place for it; and what keys and
 * commands do. What is possible is only what the view lists in `legal_moves`.
 */
import { numberName, parseTile, placeName, tileName } from "../game/names.js";

/** @import { Match } from "../game/match.js" */
/** @import { App, Game, Move, Text } from "../shell/types.js" */
/** @typedef {ReturnType<typeof createChoice>} Choice */
/** @typedef {(message: string, options?: {urgent?: boolean}) => void} Say */
/** @typedef {keyof import("texts").Texts["keyHelp"]} Action */

/**
 * Keys as `KeyboardEvent.key` has them, letters in lower case, and the action; in the order of the list.
 * @type {{keys: string[], action: Action}[]}
 */
export const KEYS = [
  { keys: [" "], action: "draw" },
  { keys: ["c"], action: "ends" },
  { keys: ["v"], action: "chain" },
  { keys: ["d"], action: "right" },
  { keys: ["g"], action: "left" },
  { keys: ["s"], action: "scores" },
  { keys: ["e"], action: "information" },
  { keys: ["t"], action: "turn" },
  { keys: ["ArrowLeft", "ArrowRight", "Home", "End"], action: "choose" },
  { keys: ["Enter"], action: "lay" },
  { keys: ["ArrowUp", "ArrowDown", ..."123456789"], action: "place" },
  { keys: ["Shift+Enter"], action: "layDown" },
  { keys: ["p"], action: "pass" },
  { keys: ["f"], action: "done" },
  { keys: ["u"], action: "flip" },
  { keys: ["n"], action: "deal" },
  { keys: ["h", "w"], action: "hand" },
  { keys: ["m"], action: "moves" },
  { keys: ["i"], action: "hint" },
  { keys: ["l"], action: "last" },
  { keys: ["r"], action: "again" },
  { keys: ["x"], action: "count" },
  { keys: ["?"], action: "help" },
  { keys: ["z"], action: "takeBack" },
  { keys: ["q"], action: "resign" },
  { keys: ["Escape"], action: "back" },
  { keys: ["`"], action: "drawer" },
];

/** The actions that only tell something, as the menu has them. @type {Action[]} */
export const TELLING = ["turn", "hand", "moves", "ends", "chain", "last", "scores", "information", "count", "again"];

/** Names of keys that are not letters. @type {Record<string, Text>} */
const NAMES = { " ": "keyNames.space", Enter: "keyNames.enter", "Shift+Enter": "keyNames.shiftEnter", Home: "keyNames.home", End: "keyNames.end" };
/** Names that are the same in every language. @type {Record<string, string>} */
const SIGNS = { Escape: "Escape", ArrowLeft: "←", ArrowRight: "→", ArrowUp: "↑", ArrowDown: "↓" };

/** @param {App["t"]} t @param {string} key */
export function nameOfKey(t, key) {
  const name = NAMES[key];
  return name ? t(name) : SIGNS[key] ?? key.toUpperCase();
}

/** The name of the first key of an action, if it has one. @param {App} app @param {string} action */
export function keyName({ t }, action) {
  const key = KEYS.find((each) => each.action === action)?.keys[0];
  return key === undefined ? "" : nameOfKey(t, key);
}

/** The name of a move that lays no tile; of one that this page does not know yet, its word. @param {App["t"]} t @param {string} action */
export function actionText(t, action) {
  /** @type {Record<string, Text>} */
  const texts = { draw: "table.draw", pass: "table.pass", done: "table.done", flip: "table.flip", deal: "table.deal" };
  const text = texts[action];
  return text ? t(text) : action;
}

/** @param {KeyboardEvent} event @param {boolean} letters whether letters are commands @returns {Action | undefined} */
function actionOf(event, letters) {
  const key = event.shiftKey && event.key === "Enter" ? "Shift+Enter" : event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if (!letters && /^[a-z]$/.test(key)) return undefined;
  return KEYS.find((each) => each.keys.includes(key))?.action;
}

// What is chosen

/**
 * @param {App} app
 * @param {Match} match
 * @param {object} does
 * @param {(move: Move) => void} does.send
 * @param {Say} does.say
 * @param {() => void} does.chosen called when another tile is chosen
 */
export function createChoice(app, match, { send, say, chosen }) {
  const { t } = app;
  const language = () => app.device.settings.language;
  /** @type {string | undefined} */
  let tile;
  /** The number of the chosen place among `moves()`. */
  let index = -1;

  const hand = () => match.game?.you?.hand ?? [];
  /** @param {string} [which] */
  const movesOf = (which = tile) => (match.game?.legal_moves ?? []).filter((each) => each.action === "play" && each.tile === which);
  const moves = () => movesOf();
  const name = (/** @type {string} */ which) => tileName(language(), which);

  /** @param {Move} move */
  function endOf(move) {
    const board = match.game?.board;
    return move.end && board ? placeName(language(), move.end, board) : t("table.empty");
  }
  /** All moves that lay the tile of one at its place. @param {Move} move */
  const waysAt = (move) => movesOf(move.tile).filter((each) => each.end === move.end);
  /** How the tile lies there, if it may lie in several ways. @param {Move} move */
  function wayOf(move) {
    const there = waysAt(move);
    if (move.face_down) return t("table.faceDown");
    if (there.some((each) => each.outer !== move.outer)) return t("table.outside", { number: numberName(language(), move.outer ?? 0) });
    return there.some((each) => each.face_down) ? t("table.faceUp") : "";
  }
  /** A place with the way. @param {Move} move */
  const placeOf = (move) => [endOf(move), wayOf(move)].filter(Boolean).join(", ");
  /** The ways to lay the chosen tile at the chosen place, or at the only one, where there are several. */
  function ways() {
    const all = moves();
    const [first] = index < 0 ? all : [all[index]];
    const there = first ? waysAt(first) : [];
    return there.length > 1 && (index >= 0 || there.length === all.length) ? there : [];
  }
  /** What laying a tile scores, where plays score: the sum of the ends, if they are counted, and the points. @param {Move} move */
  const scoreText = ({ ends_sum: sum, points: count }) => {
    if (count === undefined) return "";
    const points = t("table.points", { count });
    return sum === undefined ? points : t("table.scores", { sum, points });
  };
  /** A place with what laying the tile there scores. @param {Move} move */
  const placeText = (move) => [placeOf(move), scoreText(move)].filter(Boolean).join(": ");
  /** The places of a tile, each once, however it may lie there. @param {string} which */
  const placesOf = (which) => [...new Set(movesOf(which).filter((each) => !each.face_down).map(endOf))];

  /** @param {Move | undefined} move */
  function lay(move) {
    if (move) send(move);
    else say(whyNot(), { urgent: true });
  }
  /** Why the chosen tile cannot be laid. */
  function whyNot() {
    const { game, seat } = match;
    if (seat === undefined) return t("table.notYours");
    if (!tile) return t("table.chooseFirst");
    if (!game?.to_act.includes(seat) || game.status !== "playing") return t("table.notYourTurn");
    if (movesOf().length) return t("table.notThere", { tile: name(tile) });
    const numbers = new Set(game.board.ends.filter((each) => each.state === "open").map((each) => each.number));
    if (!numbers.size || parseTile(tile).some((each) => numbers.has(each))) {
      // Its halves would fit, but others must be laid.
      const tiles = [...new Set(game.legal_moves.flatMap((each) => each.tile ?? []))].map(name).join(", ");
      return `${t("table.fitsNotNow", { tile: name(tile) })} ${tiles && t("table.laidNow", { tiles })}`.trim();
    }
    const ends = [...numbers].map((each) => numberName(language(), each)).join(t("table.and"));
    return t(numbers.size > 1 ? "table.fitsNowhere" : "table.fitsNotEnd", { tile: name(tile), ends });
  }
  /** @param {Move[]} [among] */
  const ask = (among = moves()) =>
    say(`${t("table.whereTo", { tile: name(tile ?? "") })} ${among.map((each) => `${moves().indexOf(each) + 1}: ${placeText(each)}`).join("; ")}.`);

  const choice = {
    get tile() {
      return tile;
    },
    get index() {
      return index;
    },
    /** The legal moves of the chosen tile. */
    moves,
    /** Its places as the picture shows them, in the same order. */
    places: () => moves().map((each) => ({
      tile: each.tile ?? "", end: each.end, faceDown: each.face_down, outer: each.outer, points: each.points, sum: each.ends_sum, label: placeText(each),
    })),
    movesOf,
    placeOf,
    wayOf,
    ways,
    scoreText,
    placeText,
    placesOf,
    /** @param {string | undefined} next */
    choose(next) {
      if (next !== tile) {
        index = -1;
        chosen();
      }
      tile = next;
      app.update();
    },
    /** Chooses the tile and the place of a move; nothing, if it lays none. @param {Move} move */
    chooseMove(move) {
      choice.choose(move.tile);
      index = moves().findIndex((each) => each.end === move.end && each.face_down === move.face_down && each.outer === move.outer);
    },
    /** A place on the table was pointed at: lays the chosen tile there, or asks how. @param {number} at among its moves */
    layAt(at) {
      const move = moves()[at];
      if (!move) return;
      if (waysAt(move).length < 2) return send(move);
      index = at;
      ask(ways());
    },
    /** Chooses the next tile of the hand, or the first or last. @param {string} key */
    step(key) {
      const tiles = hand();
      const at = tiles.indexOf(tile ?? "");
      const next = key === "Home" ? 0 : key === "End" ? tiles.length - 1 : key === "ArrowLeft" ? Math.max(at, 1) - 1 : Math.min(at + 1, tiles.length - 1);
      choice.choose(tiles[next]);
    },
    /** A tap on a tile: chooses it, and says why it does not fit; the second one lays it, if there is one place. @param {string} which */
    tap(which) {
      if (which !== tile) {
        choice.choose(which);
        // Whoever is not to act is not told so at each tile.
        const isOnTurn = match.game?.status === "playing" && match.game.to_act.includes(match.seat ?? -1);
        return isOnTurn && !moves().length ? say(whyNot()) : undefined;
      }
      const [only, ...others] = moves();
      if (only && !others.length) send(only);
      else if (others.length) ask();
      else say(whyNot(), { urgent: true });
    },
    /** Chooses a place by its number from 1, or the next or previous one. @param {number | "next" | "previous"} which */
    choosePlace(which) {
      const all = moves();
      if (!all.length) return say(whyNot(), { urgent: true });
      const next = which === "next" ? (index + 1) % all.length : which === "previous" ? (Math.max(index, 0) - 1 + all.length) % all.length : which - 1;
      const move = all[next];
      if (!move) return say(t("table.noSuchPlace", { number: next + 1 }), { urgent: true });
      index = next;
      say(`${next + 1}: ${placeText(move)}`);
      app.update();
    },
    /**
     * Lays the chosen tile at the chosen place, or at the only one. @param {boolean} [faceDown]
     * @param {number} [outer] the half that stays outside
     */
    layChosen(faceDown = false, outer = undefined) {
      const all = moves().filter((each) => (outer ?? each.outer) === each.outer);
      const chosen = all.find((each) => each === moves()[index]);
      const there = chosen ? all.filter((each) => each.end === chosen.end) : all;
      const possible = there.filter((each) => Boolean(each.face_down) === faceDown);
      if (chosen && (chosen.face_down || !faceDown)) return send(chosen);
      if (!possible.length && there.length && tile) return say(t(faceDown ? "table.notFaceDown" : "table.notThere", { tile: name(tile) }), { urgent: true });
      if (possible.length > 1) return ask();
      lay(possible[0]);
    },
    /**
     * Lays the chosen tile on a side of a line. @param {"left" | "right"} side @param {boolean} [faceDown]
     * @param {number} [outer] the half that stays outside
     */
    laySide(side, faceDown = false, outer = undefined) {
      const ends = match.game?.board.ends ?? [];
      if (tile && ends.length && !ends.some((each) => each.id === side)) {
        const isLine = ends.some((each) => each.id === "right");
        return say(t(isLine ? "table.noEndThere" : "table.noSides"), { urgent: true });
      }
      const there = movesOf().filter((each) => !ends.length || each.end === side);
      const possible = there.filter((each) => Boolean(each.face_down) === faceDown && (outer ?? each.outer) === each.outer);
      if (possible.length > 1) return ask();
      lay(possible[0]);
    },
    /** Chooses no place and, if none was chosen, no tile. Whether anything was chosen. */
    back() {
      if (!tile) return false;
      if (index >= 0) index = -1;
      else tile = undefined;
      app.update();
      return true;
    },
    /** Forgets a choice that the hand does not have any more. */
    check() {
      if (tile && !hand().includes(tile)) tile = undefined;
      if (!tile || !moves()[index]) index = -1;
    },
  };
  return choice;
}

// What is done

/** The moves that lay no tile. Between rounds, any seat of this device deals. @param {Match} match @returns {Move[]} */
export function otherMoves({ game, seats }) {
  if (!game) return [];
  const dealer = game.status === "round_over" && seats.some((each) => game.to_act.includes(each));
  if (dealer && !game.legal_moves.length) return [{ action: "deal", version: game.version }];
  return game.legal_moves.filter((each) => each.action !== "play");
}

/** Whether the viewer may give up the match. @param {Game | undefined} game */
export const mayResign = (game) => {
  const own = game?.players[game.you?.seat ?? -1];
  return ["playing", "round_over"].includes(game?.status ?? "") && own?.active && !own.forfeited;
};

/**
 * What the keys and commands do.
 * @param {App} app @param {Match} match @param {Choice} choice
 * @param {object} does
 * @param {(move: Move) => void} does.send
 * @param {Say} does.say
 * @param {(action: string) => void} does.tell
 * @param {() => boolean} does.isCurtainDown
 * @param {() => void} does.showNext shows the hand behind the curtain
 * @param {() => void} does.hint asks for a hint
 * @param {(how: "leave" | "resign") => void} does.goAway
 * @param {import("./takeback.js").TakeBack} does.takeBack
 */
export function createActions({ t, device }, match, choice, { send, say, tell, goAway, isCurtainDown, showNext, hint, takeBack }) {
  /** @param {string} action a move without a tile */
  function act(action) {
    const { game, seats } = match;
    if (!game) return;
    const move = otherMoves(match).find((each) => each.action === action);
    const isOthersTurn = game.status === "playing" && !game.to_act.includes(game.you?.seat ?? -1);
    if (move) send(move);
    else say(t(!seats.length ? "table.notYours" : isOthersTurn ? "table.notYourTurn" : "table.notNow"), { urgent: true });
  }

  /**
   * Does what a key or a command means. @param {import("./answers.js").Command} command @param {string} [key]
   * @returns {boolean} whether there was anything to do
   */
  function perform({ action, place, faceDown, outer }, key = "") {
    if (takeBack.isHeld() && action !== "takeBack" && action !== "back") {
      void takeBack.sendNow();
      // The key that has laid the tile, once more.
      if (action === "lay" || action === "layDown") return true;
    }
    if (action === "takeBack" || (action === "back" && takeBack.isHeld())) takeBack.undo();
    else if (TELLING.includes(action) || action === "help") tell(action);
    else if (action === "resign" && mayResign(match.game)) goAway("resign");
    else if (action === "hint") hint();
    else if (action === "choose" && key) {
      choice.step(key);
      afterRendering(() => /** @type {HTMLElement | null} */ (document.querySelector(".hand [tabindex='0']"))?.focus());
    } else if (action === "place") {
      choice.choosePlace(place ?? (key === "ArrowUp" ? "previous" : "next"));
      afterRendering(() => document.querySelector(".places .main")?.scrollIntoView({ block: "nearest", inline: "nearest" }));
    } else if (action === "left" || action === "right") choice.laySide(action, faceDown, outer);
    else if (isCurtainDown() && action === "lay") showNext();
    else if (action === "lay" || action === "layDown") choice.layChosen(action === "layDown", outer);
    else if (action === "back") return choice.back();
    else if (action !== "drawer" && action !== "choose") act(action);
    return true;
  }

  /** A key that no control has used. @param {KeyboardEvent} event @returns {boolean} whether it did anything */
  function onKey(event) {
    const target = event.target instanceof Element ? event.target : null;
    if (!target?.closest("[data-table]")) return false;
    const onControl = target.closest("button, a, summary, [role='button']");
    if (onControl && ["Enter", " "].includes(event.key)) return false;
    const action = actionOf(event, device.settings.letters);
    if (!action || action === "drawer") return false;
    const place = /^[1-9]$/.test(event.key) ? Number(event.key) : undefined;
    return perform({ action, place }, event.key);
  }

  return { perform, onKey };
}

/** @param {() => void} action */
const afterRendering = (action) => queueMicrotask(() => queueMicrotask(action));
