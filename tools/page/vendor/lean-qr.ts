/// <reference types="lean-qr" />
/** What the page has of lean-qr: the smaller of its two builds, which knows text as bytes only, as addresses need. */
export { correction, generate } from "lean-qr/nano";
