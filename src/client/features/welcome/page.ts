/** The script of the pages on which a new person chooses a password. They also work without it. */
import { notifyTabs } from "../../api/tabs.ts";
import { loadPageTexts } from "../../base/page-texts.ts";
import { strengthOf } from "../../base/password-strength.ts";
import { uiText } from "../../ui/text.ts";

const form = document.querySelector<HTMLFormElement>("form[data-new-person]");
if (form !== null) void loadPageTexts().then(() => runForm(form));

// Open tabs of another person must not continue in the name of that person.
const userId = document.querySelector<HTMLElement>("[data-signed-in]")?.dataset["signedIn"];
if (userId !== undefined) notifyTabs({ kind: "signed-in", userId });

function runForm(form: HTMLFormElement): void {
  const field = form.querySelector<HTMLInputElement>("input[name=password]");
  const reveal = form.querySelector<HTMLButtonElement>("[data-reveal]");
  const meter = form.querySelector<HTMLElement>("[data-strength]");
  if (field === null || reveal === null || meter === null) return;
  const showStrength = () => {
    const strength = strengthOf(field.value);
    meter.dataset["strength"] = String(strength);
    meter.hidden = strength === 0;
    const label = meter.querySelector("p");
    if (label !== null) label.textContent = uiText.passwordStrength(String(strength));
  };
  field.addEventListener("input", showStrength);
  showStrength();
  const shown = reveal.textContent;
  reveal.hidden = false;
  reveal.addEventListener("click", () => {
    const isShown = field.type === "password";
    field.type = isShown ? "text" : "password";
    reveal.textContent = (isShown ? reveal.dataset["hide"] : shown) ?? "";
    reveal.setAttribute("aria-label", isShown ? uiText.hidePassword : uiText.showPassword);
  });
  // A double click must not send the form twice: the second one would only say that the link was used.
  form.addEventListener("submit", () => {
    const button = form.querySelector<HTMLButtonElement>("button[type=submit]");
    if (button !== null) button.disabled = true;
  });
  // Back to this page from the browser's memory.
  window.addEventListener("pageshow", ({ persisted }) => persisted && window.location.reload());
}
