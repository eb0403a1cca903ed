/**
 * The table, where a game is played, watched and heard. Owns the order of its parts, when they are loaded, what is
 * announced. The game comes from match.js, what somebody plays with from play.js.
 */
import { classMap, html, nothing } from "../vendor/lit-html.js";
import { createMatch } from "../game/match.js";
import { loaded } from "../shell/api.js";
import { fragmentOf } from "../shell/routes.js";
import {
  banner, chainText, createFocus, heading, isOnTurn, log, nameOf, stateText, stockPile, tools,
} from "../table/parts.js";
import { aspectFor, createPicture } from "../table/picture.js";
import { createNear, playersList, teamScores } from "../table/seats.js";
import { capitalized } from "../texts/text.js";

/** @import { App, Game, Score, Variant, View } from "../shell/types.js" */

/** A hand of more tiles has two rows. */
const LARGE = 10;
/** For so long, in milliseconds, a hand cannot be shown by what was meant for the hand before. */
const CURTAIN_MS = 400;

/** @param {App} app @param {{game: string, watch?: boolean, token?: string}} route @returns {View} */
export function create(app, { game: id, watch = false, token }) {
  // The token of a link goes to the storage of this browser, and at once out of the address.
  if (token) history.replaceState(null, "", fragmentOf({ view: "table", game: id }));
  const { t, api } = app;
  const closing = new AbortController();
  /** The last answer or refusal, to repeat and, as long as nothing else is chosen, to read. */
  let said = "";
  let isSaidShown = false;
  let isRefusal = false;
  /** @type {Variant | undefined} */
  let variant;
  let variantIsLoading = false;
  /** @type {Score | undefined} */
  let score;
  /** @type {typeof import("../setup/room.js").waitingRoom | undefined} loaded when seats are free */
  let waitingRoom;
  /** @type {typeof import("../table/curtain.js") | undefined} loaded for several seats */
  let curtain;
  /** @type {typeof import("../table/answers.js") | undefined} loaded when something is asked */
  let answers;
  /** @type {ReturnType<typeof import("../table/presence.js").createPresence> | undefined} loaded when it is needed */
  let presence;
  /** @type {typeof import("../table/play.js") & ReturnType<typeof import("../table/play.js").createPlay> | undefined} loaded for who has a seat */
  let play;
  /** @type {typeof import("../table/ended.js") | undefined} loaded when a round is over */
  let ended;
  /** @type {ReturnType<typeof import("../table/scene.js").createScene> | undefined} loaded when something moves */
  let scene;
  /** @type {ReturnType<typeof import("../table/hearing.js").createHearing> | undefined} loaded when there is something to tell */
  let hearing;
  /** What came before that was loaded. @type {{game: Game, due?: string}[]} */
  const untold = [];
  /** The version of the first look. */
  let since = -1;
  /** The tiles that were just drawn. @type {string[]} */
  let drawn = [];
  /** The most tiles of a hand when the round was first seen. */
  let dealt = { round: -1, tiles: 0 };
  let curtainSince = 0;

  const box = (/** @type {string} */ selector) => document.querySelector(selector)?.getBoundingClientRect();
  const match = createMatch(app, id, {
    watch, token, onChange, aspect: () => aspectFor(box(".cloth")?.width ?? innerWidth, box(".cloth")?.height ?? innerHeight),
  });
  const picture = createPicture(app, (...laid) => scene?.arrived(...laid));
  const keepFocus = createFocus(match);
  const nearSeat = createNear(match);
  const isCurtainDown = () => match.seats.length > 1 && match.seat === undefined && match.game?.status === "playing";
  const show = (/** @type {number | undefined} */ seat) => performance.now() - curtainSince > CURTAIN_MS && match.show(seat);

  /** @param {string} message @param {{urgent?: boolean}} [options] */
  function say(message, { urgent = false } = {}) {
    said = capitalized(message);
    isRefusal = urgent;
    isSaidShown = true;
    app.announce(said, { urgent });
    app.update();
  }

  /** A hand was hidden: nothing that was told to its player is left for the next. */
  function drawCurtain() {
    curtainSince = performance.now();
    said = "";
    app.forgetTold();
    hearing?.forget();
    for (const each of untold) delete each.due;
  }

  /** A move is shown as made before it is sent. */
  function held() {
    const { game } = match;
    said = "";
    if (match.seats.length > 1) drawCurtain();
    if (game) void withScene((each) => each.onChange({ game, before: game }));
  }

  function hide() {
    drawCurtain();
    void match.show(undefined);
  }

  /** @param {{game: Game, before: Game | undefined}} change */
  function onChange({ game, before }) {
    const isFresh = game.status === "playing" && !game.board.tiles.length;
    if (isFresh || (before && before.version < game.version)) void withScene((each) => each.onChange({ game, before }));
    play?.choice.check();
    play?.takeBack.check();
    if (match.seats.length && !play) void loadPlay();
    if (match.seat === undefined && before?.you) drawCurtain();
    if (!variant) void loadVariant(game.variant);
    if (match.seats.length > 1 && !curtain) void load(import("../table/curtain.js"), (module) => (curtain = module));
    if (game.status === "waiting" && !waitingRoom) void load(import("../setup/room.js"), (module) => ({ waitingRoom } = module));
    if (presence || game.clock || game.fills_at || game.players.some((each) => each.away || each.forfeited)) void loadPresence();
    const { hand } = before?.you ?? {};
    if (before && before.version < game.version) {
      drawn = hand && before.round === game.round ? game.you?.hand.filter((each) => !hand.includes(each)) ?? [] : [];
    }
    if (dealt.round !== game.round) dealt = { round: game.round, tiles: Math.max(...game.players.map((each) => each.tiles)) };
    /** What is told before the state, once that is due. @type {string | undefined} */
    let due = game.status === "waiting" && before?.version !== game.version ? "" : undefined;
    if (before?.status !== game.status) isSaidShown = false;
    const wasOnTurn = before !== undefined && isOnTurn(before);
    if (isOnTurn(game) && !wasOnTurn) {
      said = "";
      due = "";
      void withScene((each) => each.signal("turn", `${t("table.yourTurn")} ${variant?.name ?? ""}`));
    } else if (isOnTurn(game) && before && before.version < game.version) {
      // Where the log tells nobody's tiles, as with several seats, the drawn one is told here.
      due = match.seats.length > 1 ? play?.drewText(app, "table.drew", drawn) : "";
    }
    if (since < 0) since = game.version;
    if (game.version > since || due !== undefined) void hear(game, due);
    if (game.status !== "round_over" && game.status !== "finished") return;
    if (before?.status !== game.status) picture.fitAll();
    if (!ended) void load(import("../table/ended.js"), (module) => (ended = module));
    if (score?.version !== game.version) loadScore().catch(failed);
  }

  /** @param {Game} game @param {string} [due] what is told before the state, if that is due */
  async function hear(game, due) {
    if (hearing) return hearing.follow(game, due);
    if (untold.push({ game, due }) > 1) return undefined;
    try {
      const { createHearing } = await loaded(import("../table/hearing.js"));
      if (closing.signal.aborted) return undefined;
      hearing = createHearing(app, match, since, (shown) => (isOnTurn(shown) || shown.status === "waiting" ? stateText(app, shown) : ""));
      // Of the views that came meanwhile the one that has its sentence: that of the stream, not the answer to a move.
      for (const each of untold) hearing.follow(match.game?.text ? match.game : each.game, each.due);
    } catch (error) {
      failed(error);
    }
    untold.length = 0;
    return undefined;
  }
  async function loadPlay() {
    try {
      const [module] = await Promise.all([loaded(import("../table/play.js")), app.styles("hand")]);
      const showNext = () => show(match.next());
      const timeLeft = () => (presence ? presence.left() : match.game?.clock && 0);
      play ??= { ...module, ...module.createPlay(app, match, { say, tell, goAway, isCurtainDown, showNext, timeLeft, held, chosen: () => void (isSaidShown = false), placeAt: picture.placeAt, dropped: (...at) => scene?.drop(...at), signal: closing.signal }) };
      app.update();
    } catch (error) {
      failed(error);
      // A browser asks for a module only once; the page is loaded again, after 5 seconds at least.
      api.getPersistently("version", { signal: closing.signal }).then(() => setTimeout(() => location.reload(), 5000 - performance.now()), failed);
    }
    return play;
  }
  /** @param {(scene: ReturnType<typeof import("../table/scene.js").createScene>) => void} act */
  async function withScene(act) {
    // The game goes on without it.
    if (!scene) await import("../table/scene.js").then(({ createScene }) => (scene ??= createScene(app)), () => undefined);
    if (scene && !closing.signal.aborted) act(scene);
  }
  /** @param {string} name */
  async function loadVariant(name) {
    if (variantIsLoading) return;
    variantIsLoading = true;
    try {
      variant = (await api.get(`v1/variants/${name}`, { signal: closing.signal })).body;
      app.update();
    } catch {
      // The page works without the names of the options; the next change asks again.
    } finally {
      variantIsLoading = false;
    }
  }
  /**
   * Loads a part of this view at its first use.
   * @template Module @param {Promise<Module>} loading @param {(module: Module) => void} use
   */
  async function load(loading, use) {
    try {
      const [module] = await Promise.all([loaded(loading), app.extras()]);
      if (!closing.signal.aborted) use(module);
      app.update();
    } catch (error) {
      failed(error);
    }
  }
  async function loadAnswers() {
    if (!answers) await load(import("../table/answers.js"), (module) => (answers = module));
    return answers;
  }
  const loadPresence = () => load(import("../table/presence.js"), ({ createPresence }) => {
    presence ??= createPresence(app, match, failed);
    if (match.game) presence.follow(match.game);
  });
  async function loadScore() {
    score = /** @type {Score} */ ((await api.get(`v1/games/${encodeURIComponent(id)}/score`, { token: match.commonToken(), signal: closing.signal })).body);
    app.update();
    return score;
  }
  /** @param {unknown} error */
  function failed(error) {
    if (!closing.signal.aborted) say(app.explain(error), { urgent: true });
  }

  /** Tells something, or shows the list of the keys. @param {string} action */
  async function tell(action) {
    if (action === "again") return say(said || t("table.nothingSaid"));
    if (action === "turn" && (await app.tellNext())) return;
    try {
      const to = await loadAnswers();
      if (!to) return;
      if (action === "help") return void to.showKeys(app);
      const card = action === "scores" || action === "count" ? await loadScore() : undefined;
      const [{ game }, known] = [match, await loadPlay()];
      if (game && known && !closing.signal.aborted) say(to.textOf(app, action, { game, card, variant, choice: known.choice, events: match.events, time: presence?.timeText(game) }) ?? "");
    } catch (error) {
      failed(error);
    }
  }

  /** @param {string} line */
  async function command(line) {
    const known = await loadPlay();
    if (known) answers?.follow(app, line, { ...known, hand: match.game?.you?.hand ?? [], say });
  }

  /** The hand, or what is there instead. @param {Game} game */
  function ownPart(game) {
    if (isCurtainDown()) return curtain?.curtain(app, game, { seats: match.seats, next: match.next(), show });
    if (game.status === "round_over" || game.status === "finished") return nothing;
    if (game.status === "waiting") return waitingRoom?.(app, game, { variant, time: game.fills_at && presence?.time(game), failed }) ?? nothing;
    const heldPart = match.seats.length > 1 && play?.takeBack.panel(game);
    if (heldPart) return heldPart;
    if (!game.you) return match.seats.length ? nothing : html`<p class="soft">${t("table.watching")}</p>`;
    return html`
      ${match.seats.length > 1 ? curtain?.whose(app, nameOf(game, game.you.seat), hide) : nothing}
      ${play?.handList(app, game, { choice: play.choice, drop: play.drop, drawn })}`;
  }

  /** Who won the round that was counted, and what it counts. @param {Game} game */
  const countText = ({ status }) => (status === "round_over" ? match.events.findLast((each) => each.type === "round_ended")?.text : "");

  /** @param {"leave" | "resign"} how */
  async function goAway(how) {
    await loadPresence();
    if (match.seat !== undefined) await presence?.[how](match.seat);
  }
  /** @param {Game} game */
  function tableArea(game) {
    const label = t("table.picture");
    const choice = play?.choice;
    const board = play ? play.takeBack.board(match.board) : match.board;
    return html`<section class="table-area" aria-label=${label}>${picture.render({
      board,
      places: choice?.places(),
      marks: play?.ghosts,
      chosen: choice && choice.index >= 0 ? choice.index : undefined,
      onPlace: (_, index) => choice?.layAt(index),
      label,
      description: chainText(app, game),
      lastTile: board?.tiles.at(-1)?.tile,
      highest: game.options.set ?? 6,
    })}</section>`;
  }

  /** @param {Game} game */
  const isOver = ({ status }) => status === "round_over" || status === "finished";

  /** @param {Game} game */
  const table = (game) => {
    const own = match.seats.length === 1 ? match.seats : [];
    const isShown = game.status !== "waiting";
    return html`<div class="screen">
        ${banner(app, match)}
        ${heading(app, game, variant, teamScores(app, game, match.seats.length ? nearSeat() : undefined))}
        ${playersList(app, game, { own, near: nearSeat(), events: match.events, variant, score, ended, presence })}
        ${isShown ? html`${tableArea(game)}${stockPile(app, game)}` : nothing}
        <div class=${classMap({ own: true, large: dealt.tiles > LARGE, several: match.seats.length > 1 })}>
          <div class="line"><p class=${isOnTurn(game) ? "state turn" : "state"} data-state>${play?.prompt(app, play.choice) || countText(game) || `${play?.drewText(app, "table.drewTiles", drawn) ?? ""} ${stateText(app, game)}`.trim()}</p>
            ${said && isSaidShown ? html`<p class=${isRefusal ? "said error" : "said"} data-said>${said}</p>` : nothing}</div>
          ${presence?.actions(game)}
          ${ownPart(game)}
          <div class="actions">${isShown ? presence?.time(game) : nothing}${play?.moveButtons(app, match, play)}${play?.hint.button(game)}${ended?.waysOn(app, game, score, match.seats.length > 0 && failed)}</div>
          ${isOver(game) && match.seats.length ? ended?.soundQuestion(app) : nothing}
        </div>
      </div>
      <div class="side">
        ${isOver(game) ? ended?.lastCount(app, game, score) : nothing}
        ${log(app, match.events)}
        ${tools(app, game, variant, { answers, load: loadAnswers, tell, command: (line) => command(line).catch(failed), presence })}
      </div>`;
  };

  return {
    wide: true,
    atTable: true,
    get mark() {
      return match.game && isOnTurn(match.game) ? `● ${t("table.yourTurn")} ` : "";
    },
    title: () => variant?.name ?? t("table.title"),
    menu: () => match.game && html`<a href=${fragmentOf({ view: "rules", id: match.game.variant })}>${t("table.rules")}</a>
      ${play?.waysOut(app, match.game, goAway)}`,
    close() {
      play?.takeBack.leave();
      closing.abort();
      match.close();
      picture.close();
      presence?.close();
    },
    key(event) {
      if (play) return play.onKey(event);
      void loadPlay().then((loaded) => loaded?.onKey(event));
      return false;
    },
    render() {
      queueMicrotask(keepFocus);
      const { game } = match;
      return html`<div class=${`play ${game && game.status !== "waiting" ? "room" : ""} ${game?.status ?? ""}`} data-table tabindex="-1">
        ${game ? table(play?.takeBack.shown(game) ?? game) : html`<h1 tabindex="-1">${t("table.title")}</h1>${banner(app, match)}${match.failure ? nothing : html`<p>${t("common.loading")}</p>`}`}
      </div>`;
    },
  };
}
