import { type Html, html } from "./html.ts";

/** The problem with a submitted form; `field` is undefined if it concerns no single field. */
interface FormProblem {
  readonly field?: string | undefined;
  readonly message: string;
}

interface FormField {
  readonly field: string;
  readonly label: string;
  readonly type: "email" | "text" | "password";
  readonly value: string | undefined;
  readonly attributes: Html;
  readonly hint: string | undefined;
}

/** The field for the email address of a new account. @param boundTo the only address that the form accepts */
export function renderEmailField(
  problem: FormProblem | undefined,
  value: string | undefined,
  boundTo: string | null = null,
): Html {
  return renderField(problem, {
    field: "email",
    label: "Email",
    type: "email",
    value: boundTo ?? value,
    attributes: html` autocomplete="username" ${boundTo === null ? "required" : "readonly"}`,
    hint: boundTo === null ? undefined : "This invitation is for this email address only.",
  });
}

/** The fields for the name and the password of a new account. */
export function renderNameAndPassword(problem: FormProblem | undefined, name: string | undefined): Html {
  const nameField = renderField(problem, {
    field: "name",
    label: "Your name",
    type: "text",
    value: name,
    attributes: html` autocomplete="name" maxlength="200"`,
    hint: "Optional. Shown next to the files you share.",
  });
  const passwordField = renderField(problem, {
    field: "password",
    label: "Password",
    type: "password",
    value: undefined,
    attributes: html` autocomplete="new-password" required minlength="8" maxlength="256"`,
    hint: "Use at least 8 characters. A few unrelated words make a strong password.",
  });
  return html`${nameField}
${passwordField}`;
}

/** A labeled field with its hint and its problem, if any. Screen readers read both together with the field. */
function renderField(
  problem: FormProblem | undefined,
  { field, label, type, value, attributes, hint }: FormField,
): Html {
  const isWrong = problem?.field === field;
  const described = [hint !== undefined && `${field}-hint`, isWrong && `${field}-wrong`].filter((id) => id !== false);
  return html`<div class="field">
<label for="${field}">${label}</label>
<input id="${field}" name="${field}" type="${type}" value="${value ?? ""}"${attributes}${isWrong && html` aria-invalid="true" autofocus`}${described.length > 0 && html` aria-describedby="${described.join(" ")}"`}>
${isWrong && html`<p class="wrong" id="${field}-wrong" role="alert">${problem?.message}</p>`}
${hint !== undefined && html`<p class="hint" id="${field}-hint">${hint}</p>`}
</div>`;
}
