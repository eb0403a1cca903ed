/**
 * The addresses of the views. Everything is in the fragment, which a browser sends to nobody: links to a game contain
 * secrets.
 *
 *   #/                      home
 *   #/new  #/new/VARIANT    a new game
 *   #/here  #/friends       the same: on this device, with friends; with /VARIANT
 *   #/others              a seat at a table with others
 *   #/join  #/join/GAME/CODE
 *   #/seat/GAME/TOKEN       the table, with a seat that is taken over; replaced by #/g/GAME at once
 *   #/g/GAME                the table, played or watched
 *   #/watch/GAME            the table, watched only
 *   #/score/GAME
 *   #/replay  #/replay/GAME
 *   #/rules/VARIANT  #/rules/VARIANT/RULE   RULE: the number of a rule, such as 5.7
 *   #/settings
 */

/** @import { Route } from "./types.js" */

/** The route of a fragment. @param {string} fragment with or without "#" @returns {Route} */
export function parseRoute(fragment) {
  const [view = "", one, two, ...more] = fragment.replace(/^#?\/?/, "").split("/").map(decoded);
  // As parts of the path of a request these would lead to another resource.
  if (more.length || [one, two].some((each) => each === "." || each === "..")) return { view: "unknown" };
  if (!view) return { view: "home" };
  if ((view === "settings" || view === "others") && !one) return { view };
  if (view === "new" && !two) return { view, variant: one || undefined };
  if ((view === "here" || view === "friends") && !two) return { view: "new", variant: one || undefined, how: view };
  if (view === "join") return { view, game: one || undefined, code: two || undefined };
  if (view === "seat" && one && two) return { view, game: one, token: two };
  if ((view === "g" || view === "watch") && one && !two) return { view: "table", game: one, watch: view === "watch" };
  if (view === "score" && one && !two) return { view, id: one };
  if (view === "rules" && one) return { view, id: one, rule: two || undefined };
  if (view === "replay" && !two) return { view, game: one || undefined };
  return { view: "unknown" };
}

/** The fragment of a route. @param {Route} route */
export function fragmentOf(route) {
  switch (route.view) {
    case "home": return "#/";
    case "new": return path(route.how ?? "new", route.variant);
    case "join": return path("join", route.game, route.code);
    case "seat": return path("seat", route.game, route.token);
    case "table": return path(route.watch ? "watch" : "g", route.game);
    case "score": return path("score", route.id);
    case "rules": return path("rules", route.id, route.rule);
    case "replay": return path("replay", route.game);
    default: return path(route.view);
  }
}

/** A link to a route. @param {Route} route @param {string} [address] of the page */
export const linkTo = (route, address = new URL(".", document.baseURI).href) => address + fragmentOf(route);

/** @param {...(string | undefined)} parts */
const path = (...parts) => "#/" + parts.filter((each) => each !== undefined).map((each) => encodeURIComponent(each ?? "")).join("/");

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
