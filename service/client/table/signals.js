/** A short vibration and two clicks, where the settings ask for them and the device has them. No files. */

/** @import { Settings } from "../shell/types.js" */

/** @type {AudioContext | undefined} */
let audio;

/** @typedef {"tile" | "turn"} Signal a tile was laid, or it is your turn */

/** @param {Settings} settings @param {Signal} signal */
export function give(settings, signal) {
  if (settings.vibration && signal === "turn") navigator.vibrate?.(30);
  if (!settings.sound || !globalThis.AudioContext) return;
  audio ??= new AudioContext();
  if (signal === "tile") click(audio, 1100);
  else [660, 880].forEach((frequency, index) => audio && click(audio, frequency, index * 0.12));
}

/** @param {AudioContext} context @param {number} frequency in Hz @param {number} [delay] in seconds */
function click(context, frequency, delay = 0) {
  const start = context.currentTime + delay;
  const tone = new OscillatorNode(context, { frequency, type: "triangle" });
  const volume = new GainNode(context, { gain: 0 });
  volume.gain.setValueAtTime(0.2, start);
  volume.gain.exponentialRampToValueAtTime(0.001, start + 0.08);
  tone.connect(volume).connect(context.destination);
  tone.start(start);
  tone.stop(start + 0.1);
}
