import { element } from "./dom.ts";

const WRONG_ID = "password-wrong";

/** Gives a link's password without leaving the page: what is wrong with it is said beside the field. */
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

/** @returns what is wrong; undefined where the link is open now */
async function send(action: string, password: string): Promise<string | undefined> {
  let answer: Response;
  try {
    answer = await fetch(action, {
      method: "POST",
      body: new URLSearchParams({ password }),
      credentials: "same-origin",
      // Where it leads is the page: loading that twice would count a visitor twice.
      redirect: "manual",
    });
  } catch {
    return "Can't reach the server. Check your connection and try again.";
  }
  if (answer.ok || answer.type === "opaqueredirect") return undefined;
  // The answer is the page that a form without script would be shown: it says what is wrong.
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const told = page.getElementById(WRONG_ID) ?? page.querySelector("main p");
  return told?.textContent?.trim() || "Something went wrong. Try again.";
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
