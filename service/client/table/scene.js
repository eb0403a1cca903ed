/**
 * What moves and sounds at a table: the deal, a tile that is laid, the winner, and the clack. Owns when that is, and from
 * where; how it moves is in motion.js, how it sounds in signals.js. Decides nothing about the game. Loaded when somebody
 * touches the table, or when something happens there.
 */
import { celebrate, deal, fly, isStill, middleOf } from "./motion.js";

/** @import { App, Game } from "../shell/types.js" */
/** @import { Source, Target } from "./types.js" */

const HAND = ".hand [data-tile]";

/** @param {App} app */
export function createScene({ device }) {
  /** Where the tiles of the hand were, before it was drawn without the one that was laid. @type {Map<string, Source>} */
  let hand = new Map();
  /** Where a tile was dropped. @type {Map<string, Source>} */
  const dropped = new Map();

  /** @param {string} selector */
  const find = (selector) => document.querySelector(`.play ${selector}`);
  /** @param {number} seat */
  const plateOf = (seat) => find(`.player[data-seat="${seat}"]`);

  function remember() {
    hand = new Map([...document.querySelectorAll(HAND)].map((each) => {
      const image = each.querySelector(".tile") ?? each;
      return [each.getAttribute("data-tile") ?? "", middleOf(image, image.getBoundingClientRect().height, 90)];
    }));
  }

  /** @param {Game} game */
  function showDeal(game) {
    const table = find(".picture");
    if (!table) return;
    const hands = game.players.flatMap(({ seat, tiles }) => {
      const plate = plateOf(seat);
      return plate && tiles ? [{ element: plate.querySelector(".count") ?? plate, tiles }] : [];
    });
    if (!hands.length) return;
    deal(middleOf(table, 44), hands, device.settings);
    for (const [at, tile] of document.querySelectorAll(HAND).entries()) {
      tile.animate([{ transform: "translateY(-3rem) scale(.8)", opacity: 0 }, {}], { duration: 240, delay: 120 + 45 * at, easing: "ease-out", fill: "backwards" });
    }
  }

  /** Tiles that were drawn come from the stock, one after the other. */
  function showDrawn() {
    const stock = find(".stock");
    if (!stock) return;
    const from = middleOf(stock);
    for (const [at, tile] of document.querySelectorAll(".hand .drawn").entries()) {
      const to = middleOf(tile);
      tile.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px) scale(.4)`, opacity: 0.3 }, {}], { duration: 400, delay: 250 * at, easing: "ease-out", fill: "backwards" });
    }
  }

  /** @param {Game} game */
  const showWinners = ({ winners }) => {
    for (const seat of winners) {
      const plate = plateOf(seat);
      if (plate) celebrate(plate, device.settings);
    }
  };

  return {
    /** A tile was laid: it comes from its place in the hand, or from the plate of who laid it. @param {{tile: string, seat: number, face_down?: boolean}} laid @param {Target} target */
    arrived(laid, target) {
      const plate = plateOf(laid.seat);
      const from = dropped.get(laid.tile) ?? hand.get(laid.tile) ?? (plate ? middleOf(plate.querySelector(".backs") ?? plate) : undefined);
      dropped.clear();
      if (from && !isStill(device.settings)) fly(laid, from, target, device.settings, landed);
      else landed();
    },
    /** A tile of the hand was dropped on the table. @param {string} tile @param {number} x @param {number} y in the window */
    drop(tile, x, y) {
      dropped.set(tile, { x, y, length: 68, rotation: 90 });
    },
    /** What changed; called before it is drawn. @param {{game: Game, before: Game | undefined}} change */
    onChange({ game, before }) {
      remember();
      if (isStill(device.settings)) return;
      const isDealt = game.status === "playing" && (before ? before.round !== game.round : !game.board.tiles.length);
      const hasDrawn = before?.you !== undefined && !isDealt && (game.you?.hand.length ?? 0) > before.you.hand.length;
      const isWon = before !== undefined && before.status !== "finished" && game.status === "finished";
      if (isDealt) requestAnimationFrame(() => showDeal(game));
      if (hasDrawn) requestAnimationFrame(showDrawn);
      if (isWon) requestAnimationFrame(() => showWinners(game));
    },
    signal,
  };

  function landed() {
    void signal("tile");
  }

  /** @param {import("./signals.js").Signal} which @param {string} [text] of a notification */
  async function signal(which, text) {
    if (!device.settings.sound && !device.settings.vibration && !device.settings.notification) return;
    // The game goes on without it.
    await import("./signals.js").then(({ give }) => give(device.settings, which, text), () => undefined);
  }
}
