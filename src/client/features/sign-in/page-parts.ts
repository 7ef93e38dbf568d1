/** Parts of the sign-in page that change what it shows. */
import { uiText, waitText } from "../../ui/text.ts";

const PROBLEM_ID = "problem";

/** The element of a page that the server always renders. @throws Error if it is missing */
export function required<T extends HTMLElement>(within: ParentNode, selector: string, type: new () => T): T {
  const found = within.querySelector(selector);
  if (!(found instanceof type)) throw new Error(`The page has no ${selector}.`);
  return found;
}

/**
 * Shows what is wrong with a form, at a field or above the form. Screen readers announce it.
 * @param message undefined removes the former message
 */
export function showProblem(form: HTMLFormElement, message: string | undefined, field?: HTMLInputElement | null): void {
  document.getElementById(PROBLEM_ID)?.remove();
  for (const known of form.querySelectorAll("input[aria-invalid]")) {
    known.removeAttribute("aria-invalid");
    known.removeAttribute("aria-describedby");
  }
  if (message === undefined) return;
  const shown = document.createElement("p");
  shown.id = PROBLEM_ID;
  shown.setAttribute("role", "alert");
  shown.textContent = message;
  if (field === undefined || field === null) {
    shown.className = "notice";
    form.prepend(shown);
    return;
  }
  shown.className = "wrong";
  field.closest(".field")?.append(shown);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", PROBLEM_ID);
  field.focus();
}

/**
 * Shows how long to wait before the next attempt, counted down, and keeps the button disabled until then. Screen readers
 * announce the wait once, not every second.
 */
export function startWait(form: HTMLFormElement, button: HTMLButtonElement, seconds: number): void {
  showProblem(form, `${uiText.tooManyAttempts} `);
  const shown = document.getElementById(PROBLEM_ID);
  const countdown = document.createElement("span");
  countdown.setAttribute("aria-hidden", "true");
  const spoken = document.createElement("span");
  spoken.className = "out-of-sight";
  spoken.textContent = waitText(seconds);
  shown?.append(countdown, spoken);
  button.setAttribute("data-waits", "");
  button.disabled = true;
  const endsAt = performance.now() + seconds * 1000;
  const tick = () => {
    const left = Math.max(0, Math.ceil((endsAt - performance.now()) / 1000));
    countdown.textContent = left === 0 ? uiText.waitOver : waitText(left);
    if (left > 0) return;
    clearInterval(timer);
    button.removeAttribute("data-waits");
    button.disabled = false;
  };
  const timer = setInterval(tick, 500);
  tick();
}
