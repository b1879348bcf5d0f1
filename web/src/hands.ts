// Hands: which clicks and keys were meant for what is on the screen now.
//
// What comes up under a hand does not take the click or key that was on its way; words that were
// being typed into a field that is gone are no keys; a held Enter presses nothing again.

/** Sooner than this after something came up, a click or key was meant for what stood there before. */
export const SETTLING_MS = 500;

/** So long nobody has typed before letters are keys again. */
const PAUSE_MS = 1000;

/** Where letters are words. */
export const FIELDS = "input:not([type=checkbox]):not([type=radio]), textarea, select";

/** Keys by which one leaves a field on purpose. */
const LEAVING = ["Escape", "Tab", "Enter"];

let typedAt = Number.NEGATIVE_INFINITY;
const astray = new WeakSet<Event>();

/** Whether a key belongs to words whose field is gone. */
export const isAstray = (event: Event): boolean => astray.has(event);

/** Whether something came up too lately to have been aimed at. */
export const isTooSoon = (cameUp: number): boolean => performance.now() - cameUp < SETTLING_MS;

const press = (event: KeyboardEvent): void => {
  const target = event.target instanceof Element ? event.target : document.body;
  if (event.repeat && event.key === "Enter" && target.closest("button, a, summary")) event.preventDefault();
  if (LEAVING.includes(event.key)) typedAt = Number.NEGATIVE_INFINITY;
  else if (target.closest(FIELDS)) typedAt = performance.now();
  else if (performance.now() - typedAt < PAUSE_MS) {
    typedAt = performance.now();
    astray.add(event);
  }
};

const point = (): void => {
  typedAt = Number.NEGATIVE_INFINITY;
};

/** Watches every key and click before anything else hears of it; gives what ends that. */
export const watch = (): (() => void) => {
  addEventListener("keydown", press, true);
  addEventListener("pointerdown", point, true);
  return () => {
    removeEventListener("keydown", press, true);
    removeEventListener("pointerdown", point, true);
  };
};
