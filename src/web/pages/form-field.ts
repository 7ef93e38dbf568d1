import { type Html, html } from "./html.ts";

/** The problem with one field of a submitted form. */
export interface FieldProblem<Field extends string> {
  readonly field?: Field | undefined;
  readonly message: string;
}

/** A labeled field with its hint and its problem, if any. Screen readers read both together with the field. */
export function renderField<Field extends string>(
  problem: FieldProblem<Field> | undefined,
  field: Field,
  label: string,
  type: "email" | "text" | "password",
  value: string | undefined,
  attributes: Html,
  hint?: string,
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
