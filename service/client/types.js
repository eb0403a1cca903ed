/**
 * The types that several modules share; the browser never loads this file.
 *
 * @typedef {import("document").components["schemas"]} Schemas
 * @typedef {Schemas["Game"]} Game
 * @typedef {Schemas["GameEvent"]} GameEvent
 * @typedef {Schemas["Move"]} Move
 * @typedef {Schemas["Variant"]} Variant
 * @typedef {Schemas["VariantSummary"]} VariantSummary
 * @typedef {Schemas["Problem"]} ProblemBody
 * @typedef {Schemas["Score"]} Score
 * @typedef {Schemas["PlacedBoard"]} Board
 *
 * @typedef {import("./device.js").Settings} Settings
 * @typedef {import("./device.js").Seat} Seat
 * @typedef {import("./routes.js").Route} Route
 * @typedef {import("./text.js").Text} Text
 *
 * What a view gets.
 * @typedef {object} App
 * @property {import("./api.js").Api} api requests to the service
 * @property {import("./device.js").Device} device settings and seats, kept in this browser
 * @property {(text: Text, params?: Record<string, string | number>) => string} t the text in the language of the page
 * @property {(route: Route, options?: {replace?: boolean}) => void} go shows the view of a route
 * @property {(name: string) => Promise<void>} styles loads a style sheet, once
 * @property {() => void} update renders the page again, once, soon
 * @property {(message: string, options?: {urgent?: boolean}) => void} announce tells screen readers
 * @property {(error: unknown) => string} explain an error as a sentence for people
 *
 * What a module in views/ makes: `export const create = (app, route) => view`.
 * @typedef {object} View
 * @property {() => string} title the title of the page and of the browser's tab
 * @property {() => import("./vendor/lit-html.js").TemplateResult} render what is in <main>; called after each update
 * @property {() => void} [close] ends what the view has started: streams, timers
 * @property {(event: KeyboardEvent) => boolean} [key] handles a key that no field or button has used; true if it did
 * @property {boolean} [wide] whether the view uses the whole width, without the margins of a text
 * @property {string} [mark] before the title in the browser's tab, such as a dot on the player's turn
 */
export {};
