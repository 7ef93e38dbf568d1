/** Initial properties of an element, and attributes that are not properties. */
export interface ElementOptions {
  readonly className?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly Node[];
}

/** Creates an element. Text is never parsed as markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { className, text, attributes = {}, children = [] }: ElementOptions = {},
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name);
  if (className !== undefined) created.className = className;
  if (text !== undefined) created.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value);
  created.append(...children);
  return created;
}

/** A button with an action. */
export function button(text: string, run: () => void, { className = "button second small", label = text } = {}) {
  const created = element("button", { className, text, attributes: { type: "button", "aria-label": label } });
  created.addEventListener("click", run);
  return created;
}
