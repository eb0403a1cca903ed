/**
 * Follows one game: what the shown seat of this device may know of it, its table as a picture, and what has happened.
 * Owns the stream of events, the choice of the seat that is shown, and the move that is under way; not how it looks.
 *
 * Where several seats are played on this device, the stream is read as a spectator, and the view of a seat is asked
 * for when it is shown. As soon as another of these seats is to act, the hand is dropped and no seat is shown until
 * `show` is called: there are never two hands. A game without spectators is read by the first of these seats instead;
 * what that seat alone may know is dropped.
 */
import { Problem } from "../shell/api.js";

/** @import { App, Board, Game, GameEvent, Move, Persistent } from "../shell/types.js" */

/** How many events before the first look are read for the log, and how many it keeps. */
const EVENTS_AT_START = 40;
const MAX_EVENTS = 300;
/** After so long in the background the stream is closed, and as long as others are to act, it is looked this often. */
const HIDDEN_MS = 60_000;
const LOOK_MS = 20_000;
/** Views and events come with sentences. */
const TEXT = { text: true };

/** @typedef {ReturnType<typeof createMatch>} Match */

/**
 * @param {App} app
 * @param {string} id of the game
 * @param {object} [options]
 * @param {boolean} [options.watch] only as a spectator: no token is sent
 * @param {string} [options.token] of a seat that is taken over
 * @param {() => number} [options.aspect] width / height of the picture; asked once a round, and when the window is turned
 * @param {(change: {game: Game, before: Game | undefined, events: GameEvent[]}) => void} [options.onChange]
 */
export function createMatch(app, id, { watch = false, token: link, aspect = () => 1.6, onChange = () => {} } = {}) {
  const { api, device } = app;
  const path = `v1/games/${encodeURIComponent(id)}`;
  const closing = new AbortController();
  const { signal } = closing;
  let stream = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let hiddenTimer;
  let seen = 0;
  let shownTable = "";
  let looksAtTable = false;
  /** Whether only its players and its owner may read the game. */
  let isPrivate = false;
  let roundAspect = 1.6;
  let isTurned = false;

  const match = {
    id,
    /** The view of the shown seat, or that of a spectator. @type {Game | undefined} */
    game: undefined,
    /** @type {Board | undefined} */
    board: undefined,
    /** What has happened, the oldest first. @type {GameEvent[]} */
    events: [],
    /** The seat whose hand is shown. @type {number | undefined} */
    seat: undefined,
    /** The seats of this device. @type {number[]} */
    seats: [],
    /** @type {"opening" | "open" | "lost"} */
    connection: "opening",
    /** Why the game cannot be followed. @type {unknown} */
    failure: undefined,
    /** Whether a move is under way. */
    pending: false,
    show,
    /** Asks for the view of the shown seat again. */
    look,
    move,
    commonToken,
    /** The seat of this device that is to act in the running round. */
    next: () => actor(match.game),
    close() {
      closing.abort();
      stream.abort();
      clearTimeout(hiddenTimer);
    },
  };

  /** Reads which seats are of this device. With only one, its hand is shown. */
  function sit() {
    match.seats = watch ? [] : device.seatsOf(id).map((each) => each.seat);
    match.seat = match.seats.length === 1 ? match.seats[0] : undefined;
  }

  /** @param {number | undefined} seat */
  const tokenOf = (seat) => (watch ? undefined : device.seatsOf(id).find((each) => each.seat === seat)?.token);
  /** The token of the only seat of this device; none where there are several, as each has a view of its own. */
  const onlyToken = () => (match.seats.length === 1 ? tokenOf(match.seats[0]) : undefined);
  /** The token by which what all players may know is read: none unless the game has no spectators. */
  function commonToken() {
    return isPrivate ? tokenOf(match.seats[0]) : undefined;
  }
  /** The seat of this device that is to act, unless a computer player does. @param {Game | undefined} game */
  const actor = (game) => (game?.status === "playing" ? match.seats.find((each) => game.to_act.includes(each) && !game.players[each].away) : undefined);

  /** Takes over a view, unless a later one is known. @param {Game} game @param {GameEvent[]} [events] */
  function take(game, events = []) {
    const before = match.game;
    if (before && game.version < before.version) return;
    if (match.seats.length > 1 && match.seat !== undefined && game.status === "playing") {
      const next = actor(game);
      const isPassedOn = next !== undefined && next !== match.seat && next !== actor(before);
      if (isPassedOn || (before && before.round !== game.round)) match.seat = undefined;
    }
    const isOwn = game.you?.seat === match.seat;
    // The answer to a move has no sentence, and may come after the same view of the stream.
    if (before?.version === game.version) game.text ??= before?.text;
    match.game = isOwn ? game : publicPart(game);
    if (!isOwn && match.seat !== undefined) {
      // Until the seat's own view arrives its hand stays, without moves: they may be out of date.
      if (before?.you?.seat === match.seat) match.game = { ...match.game, you: before.you };
      void look();
    }
    onChange({ game: match.game, before, events });
    app.update();
    void lookAtTable();
  }

  /**
   * What the service answers to a request that is sent until it is answered.
   * @param {(persistent: Persistent) => Promise<{body: any}>} request
   */
  async function answerTo(request) {
    let isRetried = false;
    const onRetry = () => {
      isRetried = true;
      match.connection = "lost";
      app.update();
    };
    const { body } = await request({ signal, onRetry });
    if (isRetried && match.connection === "lost") match.connection = "open";
    return body;
  }
  /** Asks for the view that a token gives. @param {string | undefined} token */
  const view = (token) => answerTo((persistent) => api.getPersistently(path, { token, query: TEXT, ...persistent }));

  /** Asks for the view of the shown seat. */
  async function look() {
    const { seat } = match;
    try {
      const game = await view(tokenOf(seat) ?? commonToken());
      if (seat !== undefined && game.you && game.you.seat !== seat) await settle();
      else if (seat === match.seat) take(game);
    } catch (error) {
      failed(error);
    }
  }

  /** Reads which numbers the seats of this device have: without free seats a match begins with others. */
  async function settle() {
    for (const seat of device.seatsOf(id)) {
      const { you } = await view(seat.token);
      if (you) device.keep({ ...seat, seat: you.seat });
    }
    sit();
    await look();
  }

  async function lookAtTable() {
    if (looksAtTable) return;
    looksAtTable = true;
    // After the page is rendered, when the size of the picture is known.
    await Promise.resolve();
    try {
      while (match.game && (isTurned || tableOf(match.game) !== shownTable)) {
        const wanted = tableOf(match.game);
        const { round, board } = match.game;
        if (match.board?.round !== round || isTurned) roundAspect = limited(aspect());
        // Only what is new, unless a tile that is known was turned over, or all are laid out anew.
        const known = match.board?.round === round && !isTurned ? match.board.tiles : [];
        isTurned = false;
        const isLonger = board.tiles.length > known.length && known.every((each, at) => each.face_down === board.tiles[at]?.face_down);
        const query = { aspect: roundAspect, from: known.length && isLonger ? known.length : undefined };
        /** @type {Board} */
        const body = await answerTo((persistent) => api.getPersistently(`${path}/board.json`, { token: commonToken(), query, ...persistent }));
        match.board = query.from && body.round === round ? { ...body, tiles: [...known, ...body.tiles] } : body;
        shownTable = wanted;
        app.update();
      }
    } catch (error) {
      failed(error);
    } finally {
      looksAtTable = false;
    }
  }

  /** The window has another size: the table is laid out anew if its form is a very different one. */
  function onResize() {
    isTurned = match.board !== undefined && Math.abs(Math.log(limited(aspect()) / roundAspect)) > 0.4;
    if (isTurned) void lookAtTable();
  }

  async function listen() {
    stream = new AbortController();
    const current = stream;
    /** @type {GameEvent[]} */
    let events = [];
    const onConnection = (/** @type {boolean} */ isThere) => {
      if (current.signal.aborted) return;
      match.connection = isThere ? "open" : "lost";
      app.update();
    };
    const token = onlyToken() ?? commonToken();
    const language = device.settings.language;
    try {
      for await (const item of api.follow(path, {
        token, after: seen, view: true, ...TEXT, language, onConnection, signal: current.signal,
      })) {
        if (item.type === "view" && item.game) {
          // Events that lost their view are read again.
          seen = item.version;
          match.events = [...match.events, ...events].slice(-MAX_EVENTS);
          if (events.some((each) => each.type === "started")) await settle();
          take(item.game, events);
          events = [];
        } else {
          const event = /** @type {GameEvent} */ (item);
          // Which tile was drawn is for one of several seats here.
          const isOwnDraw = match.seats.length > 1 && token && event.type === "drew" && event.seat === match.seats[0];
          events.push(isOwnDraw ? { ...event, data: {}, text: undefined } : event);
        }
      }
    } catch (error) {
      if (current.signal.aborted) return;
      // The seat was given a new token here, which ends the stream of the old one.
      if (error instanceof Problem && error.status === 401 && token !== (onlyToken() ?? commonToken())) return listen();
      failed(error);
    }
  }

  /** @param {unknown} error */
  function failed(error) {
    if (signal.aborted) return;
    match.failure = error;
    app.update();
  }

  /** Looks now and then, while players are waited for, and until a seat of this device is to act. */
  async function rest() {
    stream.abort();
    const { game, seats } = match;
    const isExpected = game?.status === "waiting" || (game?.to_act.length && !seats.some((each) => game.to_act.includes(each)));
    if (!document.hidden || signal.aborted || !seats.length || !isExpected) return;
    await look();
    clearTimeout(hiddenTimer);
    hiddenTimer = setTimeout(rest, LOOK_MS);
  }

  const onVisibility = () => {
    clearTimeout(hiddenTimer);
    if (document.hidden) hiddenTimer = setTimeout(rest, HIDDEN_MS);
    else if (stream.signal.aborted) void listen();
  };

  async function start() {
    try {
      /** @type {Game} */
      const game = await view(link ?? onlyToken()).catch((error) => {
        const [first] = match.seats;
        if (link || match.seats.length < 2 || !(error instanceof Problem && error.status === 404)) throw error;
        return view(tokenOf(first));
      });
      isPrivate = game.spectators === false;
      seen = Math.max(0, game.version - EVENTS_AT_START);
      const own = link ?? onlyToken();
      if (own && game.you) device.keep({ game: id, seat: game.you.seat, token: own, name: "", variant: game.variant });
      for (const seat of watch ? [] : device.seatsOf(id)) device.keep({ ...seat, name: game.players[seat.seat]?.name ?? seat.name });
      sit();
      take(game);
      document.addEventListener("visibilitychange", onVisibility, { signal });
      addEventListener("resize", onResize, { signal });
      await listen();
    } catch (error) {
      failed(error);
    }
  }

  /** Shows the hand of a seat of this device, or of none. @param {number | undefined} seat */
  async function show(seat) {
    match.seat = seat;
    if (match.game) match.game = publicPart(match.game);
    app.update();
    if (seat !== undefined) await look();
  }

  /**
   * Makes a move of the shown seat; to deal, of any seat of this device. It is sent until it is answered, and made once.
   * @param {Move} move @returns {Promise<unknown>} the refusal, if it was refused
   */
  async function move(move) {
    const seat = match.seat ?? match.seats.find((each) => match.game?.to_act.includes(each));
    if (match.pending || seat === undefined) return undefined;
    match.pending = true;
    app.update();
    try {
      const game = await answerTo((persistent) => api.postOnce(`${path}/moves`, move, { token: tokenOf(seat), ...persistent }));
      match.pending = false;
      if (!signal.aborted) take(game);
    } catch (error) {
      if (signal.aborted) return undefined;
      if (error instanceof Problem && error.body.code === "stale_version") await look();
      return error;
    } finally {
      match.pending = false;
      app.update();
    }
    return undefined;
  }

  sit();
  void start();
  return match;
}

/** The view without what only one seat may know. @param {Game} game @returns {Game} */
function publicPart({ you: _, ...game }) {
  delete (/** @type {{text?: string}} */ (game).text);
  return { ...game, legal_moves: [] };
}

/** What the picture of the table depends on. @param {Game} game */
const tableOf = ({ round, board }) =>
  [round, ...board.tiles.map((each) => (each.face_down ? "-" : "+")), ...board.ends.map((each) => each.state)].join();

/** To what the service takes: 0.4 to 2.5 in steps of 0.1. @param {number} aspect */
const limited = (aspect) => Math.round(10 * Math.min(2.5, Math.max(0.4, aspect || 1.6))) / 10;
