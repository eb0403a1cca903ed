/** A short vibration, the clack of a tile, two tones and a notification, where the settings ask for them and the device has them. No files. */

/** @import { Settings } from "../shell/types.js" */

/** @type {AudioContext | undefined} */
let audio;
/** @type {AudioBuffer | undefined} */
let noise;

/** Seconds of a clack. */
const CLACK = 0.09;

/** @typedef {"tile" | "turn"} Signal a tile was laid, or it is your turn */

/** @param {Settings} settings @param {Signal} signal @param {string} [text] of a notification, while the page is hidden */
export function give(settings, signal, text) {
  if (settings.notification && signal === "turn" && text && document.hidden) notify(text);
  if (settings.vibration && signal === "turn") navigator.vibrate?.(30);
  if (!settings.sound || !globalThis.AudioContext) return;
  audio ??= new AudioContext();
  if (audio.state === "suspended") void audio.resume();
  if (signal === "tile") clack(audio);
  else [660, 880].forEach((frequency, index) => audio && tone(audio, frequency, index * 0.12));
}

/** @param {string} text */
function notify(text) {
  try {
    new Notification(text, { tag: "turn" }).addEventListener("click", () => window.focus());
  } catch {
    // Some browsers want a service worker for it.
  }
}

/** A tile that is put down: a burst of noise through two band-passes, the knock of the tile and that of the table. @param {AudioContext} context */
function clack(context) {
  noise ??= burst(context);
  // No two tiles sound the same.
  const rate = 0.92 + 0.16 * Math.random();
  for (const [frequency, quality, volume] of [[2600, 1.4, 0.9], [520, 2.2, 0.7]]) {
    const source = new AudioBufferSourceNode(context, { buffer: noise, playbackRate: rate });
    const band = new BiquadFilterNode(context, { type: "bandpass", frequency: frequency * rate, Q: quality });
    source.connect(band).connect(new GainNode(context, { gain: volume })).connect(context.destination);
    source.start();
  }
}

/** Noise that dies away. @param {AudioContext} context */
function burst(context) {
  const buffer = new AudioBuffer({ length: Math.ceil(CLACK * context.sampleRate), sampleRate: context.sampleRate });
  const samples = buffer.getChannelData(0);
  for (let at = 0; at < samples.length; at++) samples[at] = (2 * Math.random() - 1) * Math.exp((-9 * at) / samples.length);
  return buffer;
}

/** @param {AudioContext} context @param {number} frequency in Hz @param {number} delay in seconds */
function tone(context, frequency, delay) {
  const start = context.currentTime + delay;
  const source = new OscillatorNode(context, { frequency, type: "triangle" });
  const volume = new GainNode(context, { gain: 0 });
  volume.gain.setValueAtTime(0.2, start);
  volume.gain.exponentialRampToValueAtTime(0.001, start + 0.08);
  source.connect(volume).connect(context.destination);
  source.start(start);
  source.stop(start + 0.1);
}
