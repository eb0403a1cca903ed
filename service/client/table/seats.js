/**
 * The seats around the table: who sits where, and the plate of each with what all may know of the player. Owns which
 * place a seat has; how a place looks on which screen is in styles/seats.css.
 */
import { classMap, html, nothing } from "../vendor/lit-html.js";

/** @import { App, Game, GameEvent, Score, Variant } from "../shell/types.js" */
/** @typedef {ReturnType<typeof import("./presence.js").createPresence>} Presence */
/** @typedef {Game["players"][number]} Player */

/** A hand shows so many backs; more only as a number. */
const MAX_BACKS = 9;
/** With more players, or beside "partner", a plate on a phone has no room for the level of a computer player. */
const MANY = 4;
/** From so many others on, each place is a small one, in rows. */
const CROWD = 9;

/**
 * The places of the others, clockwise from the left of who looks: `l` at the left and `r` at the right side, the first
 * the farther one, `t` along the opposite edge from left to right.
 * @param {number} others how many
 * @returns {string[]}
 */
export function slotsOf(others) {
  const top = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => `t${at + 1}`);
  if (others <= 2 || others >= CROWD) return top(others);
  if (others <= 5) return ["l1", ...top(others - 2), "r1"];
  return ["l2", "l1", ...top(others - 4), "r1", "r2"];
}

/** The seat at the near edge of the table: the one that is shown here, or that was last. @param {import("../game/match.js").Match} match */
export function createNear(match) {
  let near = 0;
  return () => (near = match.seat ?? (match.seats.includes(near) ? near : match.seats[0] ?? 0));
}

/** The place of a seat, as seen from the seat at the near edge. @param {Game} game @param {number} seat @param {number} near */
const slotOf = ({ players }, seat, near) =>
  seat === near ? "own" : slotsOf(players.length - 1)[(seat - near - 1 + players.length) % players.length];

/**
 * The players clockwise, with what all may know of them.
 * @param {App} app @param {Game} game
 * @param {object} more
 * @param {number[]} more.own the seats of this device that are called "you"
 * @param {number} more.near the seat at the near edge of the table
 * @param {GameEvent[]} more.events
 * @param {Variant} [more.variant] once it is loaded
 * @param {Score} [more.score] once the round is counted
 * @param {typeof import("./ended.js")} [more.ended] once it is loaded
 * @param {Presence} [more.presence]
 */
export function playersList(app, game, { own, near, events, variant, score, ended, presence }) {
  const { players } = game;
  const round = game.status === "playing" || !ended ? undefined : score?.rounds.find((each) => each.number === game.round);
  const others = players.length - 1;
  const crowd = others >= CROWD ? "crowd" : "";
  return html`<ul class=${`players others-${others} ${crowd}`} aria-label=${app.t("table.players")}>${players.map((each) =>
    plate(app, game, each, { own, near, variant, round, score, ended, presence, said: saidOf(app, events, each.seat, near) }))}</ul>`;
}

/**
 * @param {App} app @param {Game} game @param {Player} player
 * @param {{own: number[], near: number, variant: Variant | undefined, round: Score["rounds"][number] | undefined, score: Score | undefined, ended: typeof import("./ended.js") | undefined, presence: Presence | undefined, said: string}} more
 */
function plate(app, game, player, { own, near, variant, round, score, ended, presence, said }) {
  const { t } = app;
  const { seat, team } = player;
  const onTurn = game.status === "playing" && game.to_act.includes(seat);
  const isMine = own.includes(seat);
  const isPartner = !isMine && team !== undefined && own.some((each) => game.players[each].team === team);
  // With the places where each is to be seen: a roomy one not on a phone, a wordy one nowhere, as the plate shows it, too.
  const tags = [
    { text: isPartner ? t("table.partner") : "", where: "shown" },
    { text: player.kind === "bot" ? t("table.bot") : "", where: "wordy" },
    { text: variant?.bots.find(({ id }) => id === player.bot)?.name, where: isPartner || game.players.length > MANY ? "roomy" : "shown" },
    { text: team === undefined ? "" : t("table.team", { team: team + 1 }), where: own.length ? "wordy" : "roomy" },
    { text: game.dealer === seat ? t("table.deals") : "", where: "roomy" },
    { text: player.active ? "" : t("table.out"), where: "shown" },
    ...(presence?.marks(game, player) ?? []).map((text) => ({ text, where: "shown" })),
  ].filter((each) => each.text);
  const classes = {
    player: true, mine: isMine, partner: isPartner, "on-turn": onTurn, out: !player.active, winner: game.winners.includes(seat),
    "of-round": round?.winner === seat, left: Boolean(player.away || player.forfeited),
  };
  return html`<li class=${classMap(classes)} data-seat=${seat} data-slot=${slotOf(game, seat, near)} data-team=${team ?? nothing}
    aria-current=${onTurn ? "true" : nothing}>
    <span class="avatar" aria-hidden="true">${[...(player.name ?? "?")][0]}</span>
    <span class="name"><span class="who">${player.kind === "open" ? t("table.openSeat") : player.name}</span>${
      isMine ? html` <span class="you">${t("table.you")}${tags.length ? "," : ""}</span>` : nothing}${tags.map(({ text, where }, at) => html`${at ? html`<span class="hidden-text">,</span>` : nothing} <span class=${`tag-text ${where}`}>${text}</span>`)}${
      onTurn ? html`<span class="hidden-text">, ${t("table.onTurn")}</span>` : nothing}</span>
    <span class="count">${backs(player.tiles)}<span aria-hidden="true">${player.tiles}</span><span
      class="hidden-text">, ${t("table.tiles", { count: player.tiles })}</span>${presence?.bank(game, player)}</span>
    <span class="total"><span aria-hidden="true">${stars(game.manche?.stars[seat] ?? 0)}${`${player.total}`.replace("-", "−")}</span><span class="hidden-text">, ${t(game.unit === "wins" ? "table.wins" : "table.points", { count: player.total })}${game.manche ? `, ${t("table.stars", { count: game.manche.stars[seat] })}` : ""}</span></span>
    ${round && score ? ended?.counted(app, game, score, seat) : nothing}
    ${said && game.status === "playing" && !(onTurn && isMine) ? html`<span class="bubble" aria-hidden="true">${said}</span>` : nothing}
  </li>`;
}

/** The stars of the running manche, in games that have one. @param {number} many */
const stars = (many) => (many ? html`<svg class="stars" viewBox=${`0 0 ${many * 12} 10`} width=${many * 12} height="10"><path fill="currentColor" d=${
  Array.from({ length: many }, (_, at) => `M${at * 12 + 5} 0l1.2 3.6 3.8.2-3 2.3 1.1 3.9-3.1-2.2-3.1 2.2 1.1-3.9-3-2.3 3.8-.2z`).join("")}></path></svg> ` : nothing);

/** As many backs as there are tiles. @param {number} tiles */
function backs(tiles) {
  const shown = Math.min(tiles, MAX_BACKS);
  const step = shown > 5 ? 5 : 7;
  const width = Math.max(0, shown - 1) * step + 9;
  return html`<svg class="backs" viewBox=${`0 0 ${width} 18`} width=${width} height="18" aria-hidden="true"><path d=${
    Array.from({ length: shown }, (_, at) => `M${at * step + 2.5} .5h4q2 0 2 2v13q0 2-2 2h-4q-2 0-2-2v-13q0-2 2-2z`).join("")}></path></svg>`;
}

/** What a seat did last, in a word, where the table does not show it. @param {App} app @param {GameEvent[]} events @param {number} seat @param {number} near */
function saidOf({ t }, events, seat, near) {
  for (let at = events.length - 1; at >= 0; at--) {
    const { type, seat: by, data } = events[at];
    if (type === "dealt" || (by === near && seat !== near && type === "played")) return "";
    if (by !== seat) continue;
    if (type === "passed") return t("table.passes");
    if (type === "drew") return t("table.draws");
    if (type === "played") return data.points ? `+${data.points}` : "";
  }
  return "";
}

/** The teams and their totals, that of the own seat first. @param {App} app @param {Game} game @param {number | undefined} own seat */
export function teamsOf({ t }, { players }, own) {
  const totals = new Map(players.flatMap(({ team, total }) => (team === undefined ? [] : [[team, total]])));
  const mine = own === undefined ? undefined : players[own]?.team;
  const teams = [...totals.keys()].sort((one, other) => Number(other === mine) - Number(one === mine) || one - other);
  const name = (/** @type {number} */ team) =>
    mine === undefined || teams.length > 2 ? t("table.team", { team: team + 1 }) : t(team === mine ? "table.we" : "table.they");
  return teams.map((team) => ({ team, name: name(team), total: totals.get(team) ?? 0, isMine: team === mine }));
}

/** The scores of the teams, where there are any. @param {App} app @param {Game} game @param {number | undefined} own seat */
export function teamScores(app, game, own) {
  const teams = teamsOf(app, game, own);
  return teams.length ? html`<p class="teams" aria-hidden="true">${teams.map(({ team, name, total, isMine }) => html`<span data-team=${team}
    class=${isMine ? "mine" : ""}>${name} <b>${total}</b></span>`)}</p>` : nothing;
}
