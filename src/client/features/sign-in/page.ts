/**
 * Runs the sign-in page that the server renders (`src/web/pages/sign-in-form-page.ts`). It is small, because the web app
 * is loaded only after the sign-in.
 */
import { ApiError, href, messageOf, request } from "../../api/http.ts";
import { currentAddress } from "../../base/address.ts";
import { loadPageTexts } from "../../base/page-texts.ts";
import { knowsPasskeys } from "../../api/passkey.ts";
import { readRejection } from "../../api/rejection.ts";
import { notifyTabs, onTabMessage } from "../../api/tabs.ts";
import { runPasskeys } from "./page-passkeys.ts";
import { required, showProblem, startWait } from "./page-parts.ts";
import { text } from "./text.ts";

const STEPS = ["password", "code", "forgot", "sent"] as const;
type Step = (typeof STEPS)[number];

/** What the form knows about the sign-in in progress. */
interface Entered {
  readonly email: string;
  readonly password: string;
}

const root = required(document, "[data-sign-in]", HTMLElement);
const next = root.dataset["next"] ?? "/";
const passwordForm = required(root, "form", HTMLFormElement);
/** The elements of the steps. Only one of them is in the document. The last two are missing without mail. */
const steps: Readonly<Record<Step, HTMLElement | undefined>> = {
  password: passwordForm,
  code: stepOf("code"),
  forgot: stepOf("forgot"),
  sent: stepOf("sent"),
};
let entered: Entered = { email: "", password: "" };
let isRecovery = false;

function stepOf(name: Step): HTMLElement | undefined {
  const template = root.querySelector<HTMLTemplateElement>(`template[data-step=${name}]`);
  const step = template?.content.firstElementChild;
  return step instanceof HTMLElement ? step : undefined;
}

function start(): void {
  showOwnAddress();
  onSubmit(passwordForm, submitPassword);
  if (steps.code instanceof HTMLFormElement) onSubmit(steps.code, submitCode);
  if (steps.forgot instanceof HTMLFormElement) onSubmit(steps.forgot, submitForgot);
  for (const part of Object.values(steps)) {
    for (const button of part?.querySelectorAll<HTMLElement>("[data-go]") ?? [])
      button.addEventListener("click", () => go(STEPS.find((step) => step === button.dataset["go"]) ?? "password"));
  }
  steps.code?.querySelector("[data-other-code]")?.addEventListener("click", () => askForCode(!isRecovery));
  startReveal();
  for (const button of passwordForm.querySelectorAll("button")) button.disabled = false;
  const passkey = root.querySelector<HTMLButtonElement>("[data-passkey]");
  if (passkey !== null && knowsPasskeys()) runPasskeys(passwordForm, passkey, done);
  // A page from the browser's cache may be of somebody who is signed in by now. The server decides.
  window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());
  onTabMessage(({ kind }) => kind === "signed-in" && window.location.reload());
}

/** The server sends this page at the address that needs a sign-in. It gets its own, so that a reload stays here. */
function showOwnAddress(): void {
  const address = currentAddress();
  if (/^\/sign-in(\?|$)/.test(address)) return;
  const query = address === "/" ? "" : `?${new URLSearchParams({ next: address }).toString()}`;
  window.history.replaceState(null, "", href(`/sign-in${query}`));
}

/** Handles a form. While a request is in progress, its button is disabled. */
function onSubmit(form: HTMLFormElement, submit: (form: HTMLFormElement) => Promise<void>): void {
  const button = required(form, "button[type=submit]", HTMLButtonElement);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    button.setAttribute("aria-busy", "true");
    showProblem(form, undefined);
    submit(form)
      .catch((error: unknown) => fail(form, button, error))
      .finally(() => {
        button.removeAttribute("aria-busy");
        if (!button.hasAttribute("data-waits")) button.disabled = false;
      });
  });
}

function fail(form: HTMLFormElement, button: HTMLButtonElement, error: unknown): void {
  const wait = error instanceof ApiError && error.status === 429 ? error.retryAfterSeconds : undefined;
  if (wait !== undefined) return startWait(form, button, wait);
  const rejection = readRejection(error, ["email", "password"]);
  const field = form.querySelector<HTMLInputElement>(`input[name="${rejection?.field ?? ""}"]`);
  showProblem(form, rejection?.message ?? messageOf(error), field);
}

async function submitPassword(form: HTMLFormElement): Promise<void> {
  const [email, password] = [input(form, "email"), input(form, "password")];
  if (email.value.trim() === "") return showProblem(form, text.emailMissing, email);
  if (password.value === "") return showProblem(form, text.passwordMissing, password);
  entered = { email: email.value.trim(), password: password.value };
  try {
    await signIn(entered);
  } catch (error) {
    if (!(error instanceof ApiError) || error.reason !== "second_factor_required") throw error;
    go("code");
  }
}

async function submitCode(form: HTMLFormElement): Promise<void> {
  const field = input(form, "code");
  const code = field.value.trim();
  if (code === "") return showProblem(form, text.codeMissing, field);
  await signIn({ ...entered, code });
}

async function submitForgot(form: HTMLFormElement): Promise<void> {
  const email = input(form, "email");
  if (email.value.trim() === "") return showProblem(form, text.emailMissing, email);
  const body = { email: email.value.trim() };
  const { message } = await request<{ message: string }>("POST", "/api/auth/password/forgot", { body });
  go("sent");
  required(root, "[role=status]", HTMLElement).textContent = message;
}

async function signIn(credentials: Entered & { readonly code?: string }): Promise<void> {
  const { user } = await request<{ user: { id: string } }>("POST", "/api/auth/signin", {
    body: { ...credentials, cookie: true },
  });
  done(user.id);
}

/** This browser has its session cookie. The button stays busy until the page is left. */
function done(userId: string): void {
  notifyTabs({ kind: "signed-in", userId });
  window.location.replace(next);
}

/** Shows a step in place of the current one, and focuses its first field. */
function go(name: Step): void {
  const step = steps[name];
  if (step === undefined) return;
  root.querySelector(":scope > :is(form, section)")?.replaceWith(step);
  if (name === "forgot" && step instanceof HTMLFormElement) {
    input(step, "email").value = input(passwordForm, "email").value;
  }
  if (name === "code") askForCode(false);
  step.querySelector<HTMLElement>("input, button")?.focus();
}

/** Asks for a code of the authenticator app, or for a recovery code. */
function askForCode(recovery: boolean): void {
  const { code: form } = steps;
  if (!(form instanceof HTMLFormElement)) return;
  isRecovery = recovery;
  showProblem(form, undefined);
  const field = input(form, "code");
  field.value = "";
  field.inputMode = recovery ? "text" : "numeric";
  field.autocomplete = recovery ? "off" : "one-time-code";
  required(form, "[data-lead]", HTMLElement).textContent = recovery ? text.recoveryLead : text.codeLead;
  required(form, "label", HTMLElement).textContent = recovery ? text.recoveryCode : text.code;
  required(form, "[data-other-code]", HTMLElement).textContent = recovery ? text.useApp : text.useRecovery;
  field.focus();
}

function startReveal(): void {
  const button = required(root, "[data-reveal]", HTMLButtonElement);
  const field = input(passwordForm, "password");
  const shown = button.textContent;
  button.addEventListener("click", () => {
    const isShown = field.type === "password";
    field.type = isShown ? "text" : "password";
    button.setAttribute("aria-pressed", String(isShown));
    button.textContent = (isShown ? button.dataset["hide"] : shown) ?? "";
  });
}

function input(form: HTMLFormElement, name: string): HTMLInputElement {
  return required(form, `input[name=${name}]`, HTMLInputElement);
}

void loadPageTexts().then(start);
