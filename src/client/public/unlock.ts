import { element } from "./dom.ts";
import { text } from "./text.ts";

const WRONG_ID = "password-wrong";

/** Submits a link's password without leaving the page, and shows errors at the field. */
export function startUnlock(root: ParentNode): void {
  const form = root.querySelector<HTMLFormElement>("form[data-unlock]");
  const field = form?.querySelector<HTMLInputElement>("input[name=password]");
  if (form === null || field === null || field === undefined) return;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void unlock(form, field);
  });
}

async function unlock(form: HTMLFormElement, field: HTMLInputElement): Promise<void> {
  const submit = form.querySelector("button");
  submit?.setAttribute("disabled", "");
  try {
    const problem = await send(form.action, field.value);
    if (problem === undefined) window.location.reload();
    else show(field, problem);
  } finally {
    submit?.removeAttribute("disabled");
  }
}

/** @returns the error message; undefined if the link is unlocked */
async function send(action: string, password: string): Promise<string | undefined> {
  let response: Response;
  try {
    response = await fetch(action, {
      method: "POST",
      body: new URLSearchParams({ password }),
      credentials: "same-origin",
      // The redirect leads to this page; loading it twice would count a visitor twice.
      redirect: "manual",
    });
  } catch {
    return text.offline;
  }
  if (response.ok || response.type === "opaqueredirect") return undefined;
  // The response is the page that a form without script would show, with the error message.
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const notice = page.getElementById(WRONG_ID) ?? page.querySelector("main p");
  return notice?.textContent?.trim() || text.failed;
}

function show(field: HTMLInputElement, problem: string): void {
  const shown = document.getElementById(WRONG_ID) ?? element("p", { className: "wrong", attributes: { id: WRONG_ID } });
  shown.remove();
  shown.textContent = problem;
  shown.setAttribute("role", "alert");
  field.after(shown);
  field.setAttribute("aria-invalid", "true");
  field.setAttribute("aria-describedby", WRONG_ID);
  field.value = "";
  field.focus();
}
