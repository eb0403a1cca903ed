/** Uses the reader of events alone; only its types are checked. */
import { follow, type Item, type Options } from "domino-client/events.js";

const options: Options = { view: true };
export async function statuses(game: string): Promise<string[]> {
  const items: Item[] = [];
  for await (const item of follow(game, options)) items.push(item);
  // @ts-expect-error: an item need not have a view
  return items.map((item) => item.game.status);
}
