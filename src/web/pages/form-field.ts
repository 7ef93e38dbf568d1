import { type Html, html } from "./html.ts";
import { formTexts } from "./text.ts";

/** The problem with a submitted form; `field` is undefined if it concerns no single field. */
interface FormProblem {
  readonly field?: string | undefined;
  readonly message: string;
}

interface FormField {
  readonly field: string;
  readonly label: string;
  readonly type: "email" | "text";
  readonly value: string | undefined;
  readonly attributes: Html;
  readonly hint: string | undefined;
}

/** The title of the page of a form. Screen readers read it first, so it says whether there is a problem. */
export function titleOfForm(language: string, title: string, problem: FormProblem | undefined): string {
  return problem === undefined ? title : formTexts(language).errorTitle({ title });
}

/** The field for the email address of a new account. @param boundTo the only address that the form accepts */
export function renderEmailField(
  language: string,
  problem: FormProblem | undefined,
  value: string | undefined,
  boundTo: string | null = null,
): Html {
  const text = formTexts(language);
  return renderField(problem, {
    field: "email",
    label: text.email,
    type: "email",
    value: boundTo ?? value,
    attributes: html` autocomplete="username" ${boundTo === null ? "required" : "readonly"}`,
    hint: boundTo === null ? undefined : text.boundEmail,
  });
}

/** The fields for the name and the password of a new account. */
export function renderNameAndPassword(
  language: string,
  problem: FormProblem | undefined,
  name: string | undefined,
): Html {
  const text = formTexts(language);
  const nameField = renderField(problem, {
    field: "name",
    label: text.name,
    type: "text",
    value: name,
    attributes: html` autocomplete="name" maxlength="200"`,
    hint: text.nameHint,
  });
  const isWrong = problem?.field === "password";
  return html`${nameField}
${renderNewPassword(language, isWrong ? problem?.message : undefined, { isFocused: isWrong })}`;
}

/** The field for the password of a new person. A script shows the button that reveals it, and how strong it is. */
export function renderNewPassword(
  language: string,
  problem: string | undefined,
  { isFocused }: { readonly isFocused: boolean },
): Html {
  const text = formTexts(language);
  const isWrong = problem !== undefined;
  return html`<div class="field">
<label for="password">${text.password}</label>
<span class="revealed"><input id="password" name="password" type="password" autocomplete="new-password" autocapitalize="off" spellcheck="false" required minlength="8" maxlength="256"${isFocused && html` autofocus`}${isWrong && html` aria-invalid="true"`} aria-describedby="password-hint${isWrong && html` password-wrong`}"><button class="button quiet small" type="button" data-reveal data-hide="${text.hide}" aria-label="${text.showPassword}" aria-controls="password" hidden>${text.show}</button></span>
${isWrong && html`<p class="wrong" id="password-wrong" role="alert">${problem}</p>`}
<div class="strength" data-strength="0" hidden><span aria-hidden="true"></span><p class="hint" aria-live="polite"></p></div>
<p class="hint" id="password-hint">${text.passwordHint}</p>
</div>`;
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
