/** Before a click comes a movement, before a tap a touch, before a shortcut a key. */
const INPUTS = ["pointermove", "pointerdown", "keydown", "wheel", "dragenter"] as const;

const waiting = new Set<() => void>();
let isUsed = false;

/**
 * Runs `action` when the person first moves the pointer, touches, or presses a key: for scripts that only an action needs,
 * and that most visits to a page never need. They are there by the time of the click.
 */
export function whenUsed(action: () => void): void {
  if (isUsed) return action();
  if (waiting.size === 0) for (const input of INPUTS) window.addEventListener(input, startUse, true);
  waiting.add(action);
}

/** Runs what waits for the first use of the page now, because an action needs it. */
export function startUse(): void {
  isUsed = true;
  for (const input of INPUTS) window.removeEventListener(input, startUse, true);
  for (const action of waiting) action();
  waiting.clear();
}
