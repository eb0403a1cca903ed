/**
 * What the table answers when it is asked by a key: sentences about the game as its viewer knows it. Owns their order
 * and completeness; reads only the view and the score card, and decides nothing.
 */
import { numberName, placeName, tileName } from "./names.js";
import { COMMON, capitalized } from "./text.js";
import { TABLE } from "./texts/table.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./types.js").Game} Game */
/** @typedef {import("./types.js").Variant} Variant */
/** @typedef {import("./types.js").Score} Score */

/** The state of the game: the sentence of the service or, without one, a short one. @param {App} app @param {Game} game */
export function stateText({ t }, game) {
  const { status, text } = game;
  if (text) return text;
  if (status === "waiting") return t(TABLE.waiting);
  if (status === "round_over") return t(TABLE.roundOver);
  if (status === "finished") {
    const names = game.winners.map((seat) => nameOf(game, seat)).join(t(TABLE.and));
    return t(game.winners.length > 1 ? TABLE.finishedSeveral : TABLE.finished, { names });
  }
  const seat = game.turn?.seat ?? -1;
  return seat === game.you?.seat ? t(TABLE.yourTurn) : t(TABLE.turnOf, { name: nameOf(game, seat) });
}

/** The ends of the table in order, and their sum. @param {App} app @param {Game} game */
export function endsText({ t, device }, { board }) {
  const { language } = device.settings;
  if (!board.ends.length) return t(TABLE.noEnds);
  const ends = board.ends.map((each) => {
    const place = placeName(language, each.id, board);
    const isNamedByNumber = place.includes(tileName(language, each.tile));
    const end = isNamedByNumber ? place : t(TABLE.numberAt, { number: numberName(language, each.number), place });
    return each.state === "gated" ? t(TABLE.endGated, { end }) : each.state === "closed" ? t(TABLE.endClosed, { end }) : end;
  });
  return [t(TABLE.ends, { ends: ends.join("; ") }), ...(board.ends_sum === undefined ? [] : [t(TABLE.sumIs, { sum: board.ends_sum })])].join(" ");
}

/** All tiles of the table: from left to right or, where they branch, line by line. @param {App} app @param {Game} game */
export function chainText({ t, device }, { board }) {
  const { language } = device.settings;
  const { tiles } = board;
  const [first] = tiles;
  if (!first) return t(TABLE.emptyTable);
  const name = (/** @type {typeof first} */ each) =>
    each.face_down ? t(TABLE.tileDown, { tile: tileName(language, each.tile) }) : tileName(language, each.tile);
  if (board.ends.every((each) => each.id === "left" || each.id === "right")) {
    const line = [...tiles.filter((each) => each.end === "left").reverse(), first, ...tiles.filter((each) => each.end === "right")];
    return t(TABLE.line, { tiles: line.map(name).join(", ") });
  }
  const sentences = [t(TABLE.first, { tile: name(first) })];
  const behind = (/** @type {string} */ host) => tiles.filter((each) => each.on?.tile === host);
  for (const starts = behind(first.tile); starts.length;) {
    const line = [/** @type {typeof first} */ (starts.shift())];
    for (let next = behind(line[0].tile); next.length; next = behind(next[0].tile)) {
      if (next.length > 1) {
        starts.unshift(...next);
        break;
      }
      line.push(next[0]);
    }
    const place = t(TABLE.behind, { tile: tileName(language, line[0].on?.tile ?? first.tile) });
    sentences.push(t(TABLE.branch, { place, tiles: line.map(name).join(", ") }));
  }
  return sentences.join(" ");
}

/** The totals in order of rank. @param {App} app @param {Game} game @param {Score} score */
export function scoresText({ t }, game, score) {
  const standings = [...score.standings].sort((one, other) => one.rank - other.rank);
  const lines = standings.map((each) => {
    const name = each.in ? nameOf(game, each.seat) : `${nameOf(game, each.seat)} (${t(TABLE.out)})`;
    return t(TABLE.standing, { rank: each.rank, name, total: each.total });
  });
  return `${lines.join("; ")}.${score.carry ? ` ${t(TABLE.carried, { points: score.carry })}` : ""}`;
}

/** The game, the round, the options, the stock and how many tiles each has. @param {App} app @param {Game} game @param {Variant | undefined} variant */
export function informationText(app, game, variant) {
  const { t } = app;
  return [
    t(TABLE.information, { variant: variant?.name ?? game.variant, round: game.round }),
    ...optionTexts(app, game, variant).map((each) => `${each}.`),
    `${t(TABLE.stock, { count: game.stock.tiles })}.`,
    `${game.players.map((each) => `${nameOf(game, each.seat)}: ${t(TABLE.tiles, { count: each.tiles })}`).join("; ")}.`,
  ].join(" ");
}

/** The options of the game with their values. @param {App} app @param {Game} game @param {Variant | undefined} variant */
export function optionTexts({ t }, game, variant) {
  /** @type {Record<string, unknown>} */
  const rules = { ...game.rules };
  return Object.entries(variant?.options.properties ?? {})
    .filter(([key]) => rules[key] !== undefined)
    .map(([key, option]) => {
      const value = rules[key];
      const word = typeof value === "boolean" ? t(value ? COMMON.yes : COMMON.no) : String(value);
      return `${option.title}: ${explained(option.description ?? "", word)}`;
    });
}

/** What a description says of a word, as in "first_out: The round ends. play_on: …"; else the word. @param {string} description @param {string} word */
function explained(description, word) {
  const [, meaning] = description.match(new RegExp(`(?:^|\\s)${word}: (.+?)\\.?(?= \\w+: |$)`)) ?? [];
  return meaning ?? word;
}

/** The hand, its pips, and which tiles fit. @param {App} app @param {Game} game */
export function handText({ t, device }, game) {
  const hand = game.you?.hand;
  if (!hand) return t(TABLE.notYours);
  if (!hand.length) return t(TABLE.noTiles);
  const names = (/** @type {string[]} */ tiles) => tiles.map((each) => tileName(device.settings.language, each)).join(", ");
  const pips = hand.flatMap((each) => each.split("-").map(Number)).reduce((sum, each) => sum + each, 0);
  const all = t(TABLE.handIs, { tiles: capitalized(names(hand)), count: t(TABLE.tiles, { count: hand.length }), pips: t(TABLE.pips, { count: pips }) });
  if (!isOnTurn(game)) return all;
  const fitting = hand.filter((tile) => game.legal_moves.some((each) => each.tile === tile));
  return `${all} ${fitting.length ? t(TABLE.fitting, { tiles: names(fitting) }) : t(TABLE.fittingNone)}`;
}

/** Every legal move. @param {App} app @param {Game} game @param {import("./choice.js").Choice} choice */
export function movesText({ t, device }, game, choice) {
  if (!game.legal_moves.length) return t(TABLE.noMoves);
  return capitalized(`${game.legal_moves.map((move) => move.tile
    ? t(TABLE.moveAt, { tile: tileName(device.settings.language, move.tile), place: choice.placeText(move) })
    : t(actionText(move.action))).join("; ")}.`);
}

/** The lines of the last count. @param {App} app @param {Game} game @param {Score} score */
export function countText({ t }, game, score) {
  const round = score.rounds.at(-1);
  if (!round) return t(TABLE.noCount);
  const lines = round.lines.map((each) =>
    `${nameOf(game, each.seat)}: ${t(TABLE.points, { count: each.points })}, ${each.text}.`);
  return [t(TABLE.countIs, { round: round.number }), ...lines].join(" ");
}

/** The name of a seat's player; where the seat is free, its number. @param {Game} game @param {number} seat */
export const nameOf = (game, seat) => game.players[seat]?.name ?? String(seat + 1);

/** Whether the viewer may act in the running round. @param {Game} game */
export const isOnTurn = (game) => game.status === "playing" && game.you !== undefined && game.to_act.includes(game.you.seat);

/** The name of a move that lays no tile; of one that this page does not know yet, its word. @param {string} action @returns {import("./text.js").Text} */
export const actionText = (action) =>
  ({ draw: TABLE.draw, pass: TABLE.pass, done: TABLE.done, flip: TABLE.flip, deal: TABLE.deal })[action] ?? [action, action];
