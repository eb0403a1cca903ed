/**
 * Plays a whole match on a running service, for an application, with the client of OpenAPI Generator (typescript-fetch).
 *
 * It knows no rules: it posts the first legal move of a view as it stands. It prints a line of JSON.
 */
import { Configuration, GamesApi, MovesApi } from "./client/index.js";

declare const process: { argv: string[] };

const [, , url, key, variant] = process.argv;
const as = (token: string) => new Configuration({ basePath: url, accessToken: token });

const created = await new GamesApi(as(key)).createGame({ gameIn: { variant, players: [{ name: "P0" }, { name: "P1" }] } });
const tokens = created.seats.map((seat) => as(seat.token));
let game = created.game;
let moves = 0;
while (game.status !== "finished") {
  const mine = tokens[game.toAct[0]];
  const view = await new GamesApi(mine).getGame({ game: game.id });
  game = await new MovesApi(mine).makeMove({ game: game.id, move: view.legalMoves[0] });
  moves += 1;
}
console.log(JSON.stringify({ game: game.id, variant: game.variant, winners: game.winners, moves }));
