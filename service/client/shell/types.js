/**
 * The types that several rooms share; the browser never loads this file.
 *
 * @typedef {import("document").components["schemas"]} Schemas
 * @typedef {Schemas["Game"]} Game
 * @typedef {Schemas["GameEvent"]} GameEvent
 * @typedef {Schemas["Move"]} Move
 * @typedef {Schemas["Variant"]} Variant
 * @typedef {Schemas["VariantSummary"]} VariantSummary
 * @typedef {Schemas["Bot"]} Bot
 * @typedef {Schemas["Problem"]} ProblemBody
 * @typedef {Schemas["Score"]} Score
 * @typedef {Pick<Schemas["PlacedBoard"], "round" | "table" | "bounds" | "tiles" | "ends">} Board as a record has it, too
 *
 * @typedef {import("../texts/text.js").Text} Text
 *
 * What a view gets.
 * @typedef {object} App
 * @property {import("./api.js").Api} api requests to the service
 * @property {import("./device.js").Device} device settings and seats, kept in this browser
 * @property {(text: Text, params?: Record<string, string | number>) => string} t the text in the language of the page
 * @property {(route: Route, options?: {replace?: boolean}) => void} go shows the view of a route
 * @property {() => Promise<void>} extras loads what a running game does not need: styles and texts of the other views
 * @property {(name: string) => Promise<void>} styles loads a style sheet, once
 * @property {() => void} update renders the page again, once, soon
 * @property {(message: string, options?: {urgent?: boolean}) => void} announce tells screen readers, at once
 * @property {(message: string) => void} tell tells them what happened, after all that happened before, at their pace
 * @property {() => Promise<boolean>} tellNext tells the next of that which they were not told yet; whether there was any
 * @property {() => void} forgetTold forgets what they were told, and what they were not told yet
 * @property {() => void} toggleDrawer opens or closes the developer drawer
 * @property {(error: unknown) => string} explain an error as a sentence for people
 *
 * What a module in views/ makes: `export const create = (app, route) => view`.
 * @typedef {object} View
 * @property {() => string} title the title of the page and of the browser's tab
 * @property {() => import("../vendor/lit-html.js").TemplateResult} render what is in <main>; called after each update
 * @property {() => void} [close] ends what the view has started: streams, timers
 * @property {(event: KeyboardEvent) => boolean} [key] handles a key that no field or button has used; true if it did
 * @property {boolean} [wide] whether the view uses the whole width, without the margins of a text
 * @property {boolean} [atTable] whether a table is shown, for which the menu is behind one button
 * @property {() => unknown} [menu] what the menu of a table has beside the other views
 * @property {string} [mark] before the title in the browser's tab, such as a dot on the player's turn
 *
 * The address of a view; `how`: all seats are on this device, or the others are free.
 * @typedef {{view: "home" | "others" | "settings"}
 *   | {view: "new", variant?: string, how?: "here" | "friends"}
 *   | {view: "join", game?: string, code?: string}
 *   | {view: "seat", game: string, token: string}
 *   | {view: "table", game: string, watch?: boolean}
 *   | {view: "score", id: string}
 *   | {view: "rules", id: string, rule?: string}
 *   | {view: "replay", game?: string}
 *   | {view: "unknown"}} Route
 */

/**
 * What is kept in this browser.
 * @typedef {object} Settings
 * @property {import("../texts/text.js").Language} language
 * @property {string} name under which was last played with others
 * @property {"auto" | "light" | "dark"} theme
 * @property {"auto" | "on" | "off"} colours of the numbers; "auto": in sets with more than double-six
 * @property {boolean} digits instead of pips
 * @property {"ivory" | "white" | "ebony"} tiles the set that is played with
 * @property {"green" | "blue" | "red" | "grey"} cloth of the table
 * @property {boolean} places whether there are also buttons for the places of a tile
 * @property {"none" | "normal" | "slow"} animation
 * @property {boolean} [sound] absent until it was asked for
 * @property {boolean} vibration
 * @property {boolean} notification when it is your turn, while the page is hidden
 * @property {boolean} letters whether single letters are commands
 * @property {100 | 125 | 150} textSize in percent
 * @property {"never" | "here" | "always"} takeBack where a move can be taken back for a moment: with several seats of this device, also against computers
 * @property {"atOnce" | "slowly" | "byKey"} listening how fast what happens at the table is told to screen readers
 *
 * A seat that is played from this browser.
 * @typedef {object} Seat
 * @property {string} game
 * @property {number} seat
 * @property {string} token
 * @property {string} name
 * @property {string} variant
 * @property {number} seen when it was last shown here, in milliseconds since 1970
 *
 * A game of which this browser may invite others.
 * @typedef {object} Invitation
 * @property {string} game
 * @property {string} joinCode
 *
 * What was chosen for a seat of a new game.
 * @typedef {object} SeatChoice
 * @property {"here" | "open" | "bot"} kind
 * @property {string} name of the player, if the kind is "here"; else what was last entered
 * @property {string} level of the computer player, if the kind is "bot"; else ""
 */

/**
 * A request and its answer.
 * @typedef {object} Exchange
 * @property {number} id
 * @property {string} method
 * @property {string} path
 * @property {Record<string, string>} headers of the request, without the token
 * @property {string | undefined} token known to the drawer alone, which shows it when asked to
 * @property {unknown} body
 * @property {number} at when it was sent, in milliseconds since 1970
 * @property {number} status 0 until there is an answer, and where there is none
 * @property {number} ms
 * @property {[string, string][]} answerHeaders
 * @property {unknown} answer
 *
 * @typedef {object} Request
 * @property {string} [token]
 * @property {unknown} [body]
 * @property {Record<string, string | number | boolean | undefined>} [query]
 * @property {Record<string, string>} [headers]
 * @property {AbortSignal} [signal]
 *
 * A request that is sent until it is answered; `onRetry` is called before each pause.
 * @typedef {Request & {onRetry?: (seconds: number) => void}} Persistent
 *
 * An item of a stream, as it arrived.
 * @typedef {object} StreamItem
 * @property {number} id
 * @property {string} game the path of the game
 * @property {string | undefined} token with which it was read
 * @property {any} item
 *
 * @typedef {object} Answer
 * @property {number} status
 * @property {Headers} headers
 * @property {any} body
 */

export {};
