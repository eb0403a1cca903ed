/**
 * What a running round does not need at once: what the table answers when it is asked by a key, as sentences about the
 * game as its viewer knows it; the list of the keys; and what a line in the command field means. Reads the view and the
 * score card, and decides nothing. Loaded at the first use.
 */
import { html } from "../vendor/lit-html.js";
import { numberName, placeName, tileName } from "../game/names.js";
import { open } from "../shell/dialog.js";
import { fragmentOf } from "../shell/routes.js";
import { capitalized } from "../texts/text.js";
import { KEYS, TELLING, actionText, keyName, nameOfKey } from "./input.js";
import { chainText, isOnTurn, nameOf, stateText } from "./parts.js";
import { teamsOf } from "./seats.js";

/** @import { App, Game, GameEvent, Score, Variant } from "../shell/types.js" */

/**
 * @typedef {object} Command
 * @property {import("./input.js").Action} action
 * @property {string} [tile]
 * @property {number} [place] from 1
 * @property {boolean} [faceDown]
 * @property {number} [outer] the half that stays outside
 */

/**
 * What is told of the game, by what is asked.
 * @param {App} app @param {string} action
 * @param {object} known
 * @param {Game} known.game
 * @param {Score | undefined} known.card where scores are asked for
 * @param {Variant | undefined} known.variant
 * @param {import("./input.js").Choice} known.choice
 * @param {GameEvent[]} known.events
 * @param {string} [known.time] what is left for the turn
 * @returns {string | undefined}
 */
export function textOf(app, action, { game, card, variant, choice, events, time = "" }) {
  /** @type {Record<string, () => string | undefined>} */
  const texts = {
    scores: () => card && scoresText(app, game, card),
    count: () => card && countText(app, game, card),
    ends: () => endsText(app, game),
    chain: () => chainText(app, game),
    information: () => informationText(app, game, variant),
    turn: () => `${stateText(app, game)} ${time}`.trim(),
    hand: () => handText(app, game),
    moves: () => movesText(app, game, choice),
    last: () => events.filter((each) => each.text).at(-1)?.text ?? app.t("answers.noLast"),
  };
  return texts[action]?.();
}

/** The ends of the table in order, and their sum. @param {App} app @param {Game} game */
function endsText({ t, device }, { board }) {
  const { language } = device.settings;
  if (!board.ends.length) return t("answers.noEnds");
  const ends = board.ends.map((each) => {
    const place = placeName(language, each.id, board);
    const isNamedByNumber = place.includes(tileName(language, each.tile));
    const end = isNamedByNumber ? place : t("answers.numberAt", { number: numberName(language, each.number), place });
    return each.state === "gated" ? t("answers.endGated", { end }) : each.state === "closed" ? t("answers.endClosed", { end }) : end;
  });
  return [t(ends.length === 1 ? "answers.end" : "answers.ends", { ends: ends.join("; ") }), ...(board.ends_sum === undefined ? [] : [t("answers.sumIs", { sum: board.ends_sum })])].join(" ");
}

/** The totals in order of rank, or those of teams. @param {App} app @param {Game} game @param {Score} score */
function scoresText(app, game, score) {
  const { t } = app;
  const teams = teamsOf(app, game, game.you?.seat);
  if (teams.length) return `${teams.map(({ name, total }) => `${name} ${total}`).join(", ")}.`;
  const standings = [...score.standings].sort((one, other) => one.rank - other.rank);
  const lines = standings.map((each) => {
    const mark = each.forfeited ? t("answers.forfeited") : each.active ? "" : t("table.out");
    const name = nameOf(game, each.seat);
    return t("answers.standing", { rank: each.rank, name: mark ? `${name} (${mark})` : name, total: each.total })
      + (score.manche ? `, ${t("table.stars", { count: score.manche.stars[each.seat] })}` : "");
  });
  return `${lines.join("; ")}.${score.carry ? ` ${score.unit === "wins" ? t("table.drawn", { count: score.carry }) : t("answers.carried", { points: score.carry })}` : ""}`;
}

/** The game, the round, the options, the stock and how many tiles each has. @param {App} app @param {Game} game @param {Variant | undefined} variant */
function informationText(app, game, variant) {
  const { t } = app;
  return [
    t("answers.information", { variant: variant?.name ?? game.variant, round: game.round }),
    ...optionTexts(app, game, variant).map((each) => `${each}.`),
    `${t("table.stock", { count: game.stock.tiles })}.`,
    `${game.players.map((each) => `${nameOf(game, each.seat)}: ${t("table.tiles", { count: each.tiles })}`).join("; ")}.`,
  ].join(" ");
}

/** The options of the game, and where its rules and scores are. @param {App} app @param {Game} game @param {Variant | undefined} variant */
export const about = (app, game, variant) => html`<ul>${optionTexts(app, game, variant).map((each) => html`<li>${each}</li>`)}</ul>
  <p><a href=${fragmentOf({ view: "rules", id: game.variant })}>${app.t("answers.rules")}</a> · <a
    href=${fragmentOf({ view: "score", id: game.id })}>${app.t("ended.scoreCard")}</a></p>`;

/** The options of the game with their values. @param {App} app @param {Game} game @param {Variant | undefined} variant */
function optionTexts({ t }, game, variant) {
  /** @type {Record<string, unknown>} */
  const chosen = { ...game.options };
  return Object.entries(variant?.options.properties ?? {})
    .filter(([key]) => chosen[key] !== undefined)
    .map(([key, option]) => {
      const value = chosen[key];
      const word = typeof value === "boolean" ? t(value ? "common.yes" : "common.no") : String(value);
      return `${option.title}: ${option.oneOf?.find((each) => each.const === value)?.title ?? word}`;
    });
}

/** The hand, its pips, and which tiles fit. @param {App} app @param {Game} game */
function handText({ t, device }, game) {
  const hand = game.you?.hand;
  if (!hand) return t("table.notYours");
  if (!hand.length) return t("table.noTiles");
  const names = (/** @type {string[]} */ tiles) => tiles.map((each) => tileName(device.settings.language, each)).join(", ");
  const pips = hand.flatMap((each) => each.split("-").map(Number)).reduce((sum, each) => sum + each, 0);
  const all = t("answers.handIs", { tiles: capitalized(names(hand)), count: t("table.tiles", { count: hand.length }), pips: t("answers.pips", { count: pips }) });
  if (!isOnTurn(game)) return all;
  const fitting = hand.filter((tile) => game.legal_moves.some((each) => each.tile === tile));
  return `${all} ${fitting.length ? t("answers.fitting", { tiles: names(fitting) }) : t("answers.fittingNone")}`;
}

/** Every legal move. @param {App} app @param {Game} game @param {import("./input.js").Choice} choice */
function movesText({ t, device }, game, choice) {
  if (!game.legal_moves.length) return t("answers.noMoves");
  return capitalized(`${game.legal_moves.map((move) => move.tile
    ? t("answers.moveAt", { tile: tileName(device.settings.language, move.tile), place: choice.placeText(move) })
    : actionText(t, move.action)).join("; ")}.`);
}

/** The lines of the last count. @param {App} app @param {Game} game @param {Score} score */
function countText({ t }, game, score) {
  const round = score.rounds.at(-1);
  if (!round) return t("answers.noCount");
  const lines = round.lines.map((each) =>
    `${nameOf(game, each.seat)}: ${t(score.unit === "wins" ? "table.wins" : "table.points", { count: each.points })}, ${each.text}.`);
  return [t("answers.countIs", { round: round.number }), ...lines].join(" ");
}

/** A button for everything that is told, and the field for commands. @param {App} app @param {(action: string) => void} tell @param {(line: string) => Promise<void>} command */
export const listening = (app, tell, command) => html`<div class="buttons">${TELLING.map((action) => html`<button data-tell=${action}
  @click=${() => tell(action)}>${app.t(`keyHelp.${action}`)} <kbd aria-hidden="true">${keyName(app, action)}</kbd></button>`)}
  <button data-tell="help" @click=${() => tell("help")}>${app.t("answers.keysTitle")} <kbd aria-hidden="true">?</kbd></button></div>
  <form class="command inline" @submit=${(/** @type {SubmitEvent} */ event) => onCommand(event, command)}>
    <label for="command">${app.t("answers.command")}</label>
    <input id="command" name="command" autocomplete="off" autocapitalize="off" spellcheck="false" enterkeyhint="go" aria-describedby="command-hint">
    <button>${app.t("answers.send")}</button>
    <p class="hint soft" id="command-hint">${app.t("answers.commandHint")}</p>
  </form>`;

/** Done when the last command is. @type {Promise<void>} */
let commands = Promise.resolve();

/** One command after the other, also while what they need is loading. @param {SubmitEvent} event @param {(line: string) => Promise<void>} command */
function onCommand(event, command) {
  event.preventDefault();
  const form = /** @type {HTMLFormElement} */ (event.target);
  const line = String(new FormData(form).get("command")).trim();
  form.reset();
  commands = commands.then(() => command(line));
}

/** Shows the list of the keys until it is closed. @param {App} app */
export function showKeys(app) {
  const { t } = app;
  return open(app, t("answers.keysTitle"), (dialog) => {
    dialog.className = "keys";
    return html`<button class="close" @click=${() => dialog.close()}>${t("common.close")}</button>
    <p class="soft">${t("answers.keysIntroduction")}</p>
    <table>
      <thead><tr><th scope="col">${t("answers.keysColumn")}</th><th scope="col">${t("answers.actionColumn")}</th></tr></thead>
      <tbody>${KEYS.map(({ keys, action }) => html`<tr>
        <th scope="row">${(keys.length > 4 ? [...keys.slice(0, 2), "1–9"] : keys).map((key) => html`<kbd>${nameOfKey(t, key)}</kbd> `)}</th>
        <td>${t(`keyHelp.${action}`)}</td>
      </tr>`)}</tbody>
    </table>`;
  });
}

/** Actions that have words, beside the letters of their keys: their own names, and those of the language of the page. */
const ACTIONS = /** @type {const} */ (["draw", "pass", "done", "flip", "deal", "help"]);
const SIDES = /** @type {const} */ (["left", "right"]);
const DOWN = /** @type {const} */ (["down"]);
/** Letters that stand for a word about a place. @type {Record<string, string>} */
const LETTERS = { l: "left", g: "left", r: "right", d: "right", x: "down" };

/**
 * Which of these a word means.
 * @template {(typeof ACTIONS | typeof SIDES | typeof DOWN)[number]} Name
 * @param {App["t"]} t @param {string} word @param {readonly Name[]} names @returns {Name | undefined}
 */
const meant = (t, word, names) => names.find((name) => name === word || t(`commandWords.${name}`).split(" ").includes(word));

/**
 * What a line means: a letter or word; or a tile with, before or after it, a side or the number of a place, and
 * whether face down or which half stays outside (`:6`). `undefined`: nothing.
 * @param {App["t"]} t @param {string} line @returns {Command | undefined}
 */
function parseCommand(t, line) {
  const words = line.trim().toLowerCase().split(/\s+/);
  const tileAt = words.findIndex((each) => /^\d+[-/:|]\d+$/.test(each));
  if (tileAt < 0) {
    const [word = "", ...more] = words;
    if (more.length || !word) return undefined;
    const action = meant(t, word, ACTIONS) ?? (word.length === 1 ? KEYS.find((each) => each.keys.includes(word))?.action : undefined);
    return action && { action, place: /^[1-9]$/.test(word) ? Number(word) : undefined };
  }
  const numbers = (words[tileAt] ?? "").split(/[-/:|]/).map(Number).sort((one, other) => one - other);
  /** @type {Command} */
  const command = { action: "choose", tile: numbers.join("-") };
  for (const each of words.filter((_, index) => index !== tileAt)) {
    const word = LETTERS[each] ?? each;
    const side = meant(t, word, SIDES);
    if (side) command.action = side;
    else if (/^[1-9]\d?$/.test(word)) Object.assign(command, { action: "place", place: Number(word) });
    else if (/^:\d+$/.test(word)) command.outer = Number(word.slice(1));
    else if (meant(t, word, DOWN)) command.faceDown = true;
    else return undefined;
  }
  if (command.faceDown && command.action === "choose") command.action = "layDown";
  if (command.outer !== undefined && command.action === "choose") command.action = "lay";
  return command;
}

/**
 * Does what a line means.
 * @param {App} app @param {string} line
 * @param {object} table
 * @param {string[]} table.hand
 * @param {import("./input.js").Choice} table.choice
 * @param {(message: string, options?: {urgent?: boolean}) => void} table.say
 * @param {(command: Command) => unknown} table.perform
 */
export function follow({ t, device }, line, { hand, choice, say, perform }) {
  const command = parseCommand(t, line);
  if (!command) return say(t("answers.unknownCommand", { command: line }), { urgent: true });
  if (command.tile) {
    const name = tileName(device.settings.language, command.tile);
    if (!hand.includes(command.tile)) return say(t("answers.notInHand", { tile: name }), { urgent: true });
    choice.choose(command.tile);
    const places = choice.moves().map(choice.placeText).join("; ");
    if (command.action === "choose") return say(`${name}: ${places || t("table.fitsNot")}.`);
  }
  perform(command);
  // A tile with the number of its place is meant to be laid there.
  if (command.tile && command.place && choice.index >= 0) choice.layChosen(command.faceDown);
}
