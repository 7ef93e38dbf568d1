/** Asks for the password of a locked drop box again if its grant expires while files are being sent. */
import { button, element } from "../dom.ts";
import { dropBoxText, text } from "../text.ts";
import { messageIn, parsed } from "./responses.ts";

/** The password form. `onOpen` is called when uploads may continue. */
export class UnlockForm {
  readonly element = element("div", { className: "notice", attributes: { hidden: "" } });
  readonly #url: string | undefined;
  readonly #onOpen: () => void;
  readonly #field = element("input", {
    attributes: { type: "password", id: "again", maxlength: "256", autocomplete: "off" },
  });
  readonly #problem = element("p", { className: "wrong", attributes: { role: "alert" } });
  #grant: string | undefined;

  constructor(url: string | undefined, grant: string | undefined, onOpen: () => void) {
    this.#url = url;
    this.#grant = grant;
    this.#onOpen = onOpen;
    this.element.append(
      element("label", { text: dropBoxText.passwordAgain, attributes: { for: "again" } }),
      this.#field,
      this.#problem,
      button(dropBoxText.proceed, () => void this.#send(), { className: "button" }),
    );
    this.#field.addEventListener("keydown", (event) => {
      if (event.key === "Enter") void this.#send();
    });
  }

  /** The grant of the entered password. */
  get grant(): string | undefined {
    return this.#grant;
  }

  /** Shows the form, if the link has a password. */
  show(): void {
    if (this.#url === undefined || !this.element.hidden) return;
    this.element.hidden = false;
    this.#field.focus();
  }

  async #send(): Promise<void> {
    const response = await fetch(this.#url ?? "", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ password: this.#field.value }),
    }).catch(() => undefined);
    const body = await response?.text().catch(() => undefined);
    if (response === undefined || body === undefined) {
      this.#problem.textContent = text.offline;
      return;
    }
    const grant = response.ok ? grantIn(body) : undefined;
    if (grant === undefined) {
      this.#problem.textContent = messageIn(body) ?? text.failedWithStatus({ status: String(response.status) });
      return;
    }
    this.#grant = grant;
    this.#field.value = "";
    this.#problem.textContent = "";
    this.element.hidden = true;
    this.#onOpen();
  }
}

function grantIn(body: string): string | undefined {
  const response = parsed(body);
  if (typeof response !== "object" || response === null || !("data" in response)) return undefined;
  const { data } = response;
  if (typeof data !== "object" || data === null || !("grant" in data)) return undefined;
  return typeof data.grant === "string" ? data.grant : undefined;
}
