/**
 * Creates a game as an application, waits until the application's list has it, and prints its id.
 *
 * Its arguments are the address of the service and the key.
 */
import { connect, type components } from "domino-client";

declare const process: { argv: string[] };

const [, , url, key] = process.argv;
const application = connect(url, key);
const body: components["schemas"]["GameIn"] = { variant: "domino", players: [{ name: "Ada" }, { name: "Bo" }] };
const { data: created, error } = await application.POST("/v1/games", { body });
if (!created) throw new Error(error.detail);
// @ts-expect-error: there is no such field, so that the types are not any
created.game.nothing;
const isListed = async () => (await application.GET("/v1/games")).data?.games.some(({ id }) => id === created.game.id);
while (!(await isListed())) await new Promise((resolve) => setTimeout(resolve, 20));
console.log(created.game.id);
