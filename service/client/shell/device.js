/**
 * What this browser keeps: the settings of the page, the seats that are played from here with their tokens, the join
 * codes of games, and who sat at the last new game. Where there is no storage, as in some private windows, all this
 * lasts as long as the page.
 */
import { browserLanguage } from "../texts/text.js";

/** @import { Invitation, Seat, SeatChoice, Settings } from "./types.js" */

/** @returns {Settings} */
const defaults = () => ({
  language: browserLanguage(),
  name: "",
  theme: "auto",
  colours: "auto",
  digits: false,
  tiles: "ivory",
  cloth: "green",
  places: false,
  animation: "normal",
  vibration: false,
  notification: false,
  letters: true,
  textSize: 100,
  listening: "atOnce",
  takeBack: "here",
});

/** Seconds before the move of a computer player in a game of somebody who listens. */
const LISTENING_PACE = 3;

const MAX_SEATS = 200;
/** Of all that is kept. */
const NAMES = ["settings", "seats", "invitations", "last-seats"];

/** @typedef {ReturnType<typeof createDevice>} Device */

/** @param {() => void} changed called after a change, also one by another tab */
export function createDevice(changed) {
  const prefix = `domino:${new URL(".", document.baseURI).pathname}:`;
  /** What could not be stored. @type {Map<string, string>} */
  const memory = new Map();

  /** @param {string} name @param {any} missing */
  const load = (name, missing) => {
    try {
      return JSON.parse(memory.get(name) ?? localStorage.getItem(prefix + name) ?? "null") ?? missing;
    } catch {
      return missing;
    }
  };
  /** @param {string} name @param {unknown} value */
  const save = (name, value) => {
    const text = JSON.stringify(value);
    try {
      localStorage.setItem(prefix + name, text);
      memory.delete(name);
    } catch {
      // There is no storage, or it is full: kept as long as the page.
      memory.set(name, text);
    }
    changed();
  };

  /** @type {Settings} */
  let settings = { ...defaults(), ...load("settings", {}) };
  addEventListener("storage", (event) => {
    if (!event.key?.startsWith(prefix)) return;
    settings = { ...defaults(), ...load("settings", {}) };
    changed();
  });

  /** @returns {Seat[]} */
  const seats = () => load("seats", []);
  /** @returns {Invitation[]} */
  const invitations = () => load("invitations", []);

  return {
    /** Whether there is no storage, or it is full. */
    forgets() {
      try {
        localStorage.setItem(prefix, "");
        return localStorage.removeItem(prefix);
      } catch {
        return true;
      }
    },
    get settings() {
      return settings;
    },
    /** @param {Partial<Settings>} change */
    set(change) {
      settings = { ...settings, ...change };
      save("settings", settings);
    },
    /** The `pace` of a game that is begun here: a slower one for who listens; else what the service takes. */
    pace: () => (settings.listening === "atOnce" ? undefined : LISTENING_PACE),
    seats,
    /** The seats of one game, in their order at the table. @param {string} game */
    seatsOf: (game) => seats().filter((each) => each.game === game).sort((one, other) => one.seat - other.seat),
    /** Keeps a seat, or replaces what is known of it. @param {Omit<Seat, "seen">} seat */
    keep(seat) {
      const others = seats().filter((each) => each.game !== seat.game || (each.seat !== seat.seat && each.token !== seat.token));
      save("seats", [{ ...seat, seen: Date.now() }, ...others].slice(0, MAX_SEATS));
    },
    /** Forgets the seats of a game, and its join code. @param {string} game */
    forget(game) {
      save("seats", seats().filter((each) => each.game !== game));
      save("invitations", invitations().filter((each) => each.game !== game));
    },
    forgetAll() {
      for (const name of NAMES) {
        memory.delete(name);
        try {
          localStorage.removeItem(prefix + name);
        } catch {
          // no storage
        }
      }
      settings = defaults();
      changed();
    },
    /** The games of which this browser may invite others, the newest first. */
    invitations,
    /** What was chosen for the seats of the last new game, in their order; empty before the first. @returns {SeatChoice[]} */
    lastSeats: () => load("last-seats", []),
    /** The name that was last entered; "" before the first. @returns {string} */
    lastName: () => load("last-seats", []).find((/** @type {SeatChoice} */ each) => each.kind === "here" && each.name)?.name ?? settings.name,
    /** @param {SeatChoice[]} choices */
    keepLastSeats: (choices) => save("last-seats", choices),
    /** The join code of a game, if it is known here. @param {string} game */
    joinCode: (game) => invitations().find((each) => each.game === game)?.joinCode,
    /** @param {Invitation} invitation */
    invite(invitation) {
      const others = invitations().filter((each) => each.game !== invitation.game);
      save("invitations", [invitation, ...others].slice(0, MAX_SEATS));
    },
  };
}
