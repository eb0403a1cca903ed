/** Texts of the curtain between the hands of one device. */

/** @satisfies {Record<string, import("./text.js").Text>} */
export const CURTAIN = {
  passTo: ["Pass to {name}", "Weiter an {name}"],
  hidden: ["All hands are hidden", "Alle Hände sind verdeckt"],
  showHand: ["Show {name}’s hand", "Die Hand von {name} zeigen"],
  handOf: ["{name}’s hand", "Die Hand von {name}"],
  hideHand: ["Hide this hand", "Diese Hand verdecken"],
};
