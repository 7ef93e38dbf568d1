import { type Html, html } from "./html.ts";

/** What was wrong with one field of a form that was sent. */
export interface FieldProblem<Field extends string> {
  readonly field?: Field | undefined;
  readonly message: string;
}

/** A labelled field with its hint and, where it was refused, why: read out with it by screen readers. */
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
