import { button } from "./dom.ts";
import { text } from "./text.ts";

/** Helps to select files for a ZIP: select all, ranges with Shift, and the number on the button. */
export function startSelection(root: ParentNode): void {
  const form = root.querySelector<HTMLFormElement>("form[data-selection]");
  const bar = form?.querySelector<HTMLElement>(".chosen");
  const submit = bar?.querySelector<HTMLButtonElement>("button[type=submit]");
  if (form === null || !bar || !submit) return;
  const boxes = [...form.querySelectorAll<HTMLInputElement>("input[type=checkbox]")];
  let last: number | undefined;

  const showCount = () => {
    const chosen = boxes.filter((box) => box.checked).length;
    submit.disabled = chosen === 0;
    submit.textContent = chosen === 0 ? text.downloadSelected : text.downloadItems({ n: chosen });
    all.textContent = chosen === boxes.length ? text.clearSelection : text.selectAll;
  };
  const all = button(text.selectAll, () => {
    const willCheck = boxes.some((box) => !box.checked);
    for (const box of boxes) box.checked = willCheck;
    showCount();
  });
  all.className = "button quiet";
  all.removeAttribute("aria-label");
  bar.append(all);

  for (const [index, box] of boxes.entries()) {
    box.addEventListener("click", (event) => {
      if (event.shiftKey && last !== undefined) {
        const [from, to] = [Math.min(last, index), Math.max(last, index)];
        for (const between of boxes.slice(from, to + 1)) between.checked = box.checked;
      }
      last = index;
      showCount();
    });
  }
  // When the person returns to the page, browsers restore the checkboxes.
  window.addEventListener("pageshow", showCount);
  showCount();
}
