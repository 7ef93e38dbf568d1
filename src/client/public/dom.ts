/** What an element begins with: its properties, and attributes that are no properties. */
export interface Start {
  readonly className?: string;
  readonly text?: string;
  readonly attributes?: Readonly<Record<string, string>>;
  readonly children?: readonly Node[];
}

/** Makes an element. Text is text: nothing of it becomes markup. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { className, text, attributes = {}, children = [] }: Start = {},
): HTMLElementTagNameMap[Name] {
  const created = document.createElement(name);
  if (className !== undefined) created.className = className;
  if (text !== undefined) created.textContent = text;
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value);
  created.append(...children);
  return created;
}

/** A button that does something. */
export function button(text: string, run: () => void, { className = "button second small", label = text } = {}) {
  const created = element("button", { className, text, attributes: { type: "button", "aria-label": label } });
  created.addEventListener("click", run);
  return created;
}
