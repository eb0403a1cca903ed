/** Texts of the picture of the table. */

/** @satisfies {Record<string, import("../text.js").Text>} */
export const PICTURE = {
  tools: ["Size of the picture", "Größe des Bilds"],
  fitAll: ["Show all", "Alles zeigen"],
  zoomIn: ["Zoom in", "Vergrößern"],
  zoomOut: ["Zoom out", "Verkleinern"],
};
