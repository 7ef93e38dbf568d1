import { Check, Copy } from "./icons.ts";
import { type FocusEvent, useState } from "react";
import { announce } from "../base/announce.ts";
import { Button } from "./button.tsx";
import { cx } from "./cx.ts";
import { Field } from "./field.tsx";
import { uiText } from "./text.ts";

/**
 * A text to copy: a link, a token, a code.
 * @param isWrapped shows all of a text that does not fit into one line on phones
 */
export function CopyField({
  label,
  value,
  hint,
  isWrapped = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly hint?: string;
  readonly isWrapped?: boolean;
}) {
  const Element = isWrapped ? "textarea" : "input";
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  const copy = async () => {
    const isCopied = await copyText(value);
    setState(isCopied ? "copied" : "failed");
    if (isCopied) announce(uiText.copied);
  };
  return (
    <Field
      label={label}
      {...(hint !== undefined && { hint })}
      error={state === "failed" ? uiText.copyFailed : undefined}
    >
      {(ids) => (
        <div className="flex items-start gap-2">
          <Element
            {...ids}
            {...(isWrapped && { rows: 2 })}
            // What is copied is for programs: from left to right in all languages.
            dir="ltr"
            readOnly
            value={value}
            onFocus={(event: FocusEvent<HTMLInputElement | HTMLTextAreaElement>) => event.target.select()}
            className={cx("field control min-w-0 flex-1 font-mono", isWrapped && "field-sizing-content resize-none")}
          />
          <Button icon={state === "copied" ? Check : Copy} onClick={() => void copy()}>
            {state === "copied" ? uiText.copied : uiText.copy}
          </Button>
        </div>
      )}
    </Field>
  );
}

/**
 * Copies `text` to the clipboard, also on plain HTTP.
 * @returns whether the browser allowed it
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (navigator.clipboard !== undefined) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    return copyBySelection(text); // Rejected, for example because the page does not have the focus. The older method may still work.
  }
  return copyBySelection(text);
}

/** `navigator.clipboard` exists only on HTTPS and localhost, and a server at home is often on neither. */
function copyBySelection(text: string): boolean {
  const focused = document.activeElement;
  const area = document.createElement("textarea");
  area.value = text;
  area.className = "sr-only";
  // An open dialog traps the focus, so the field must be inside it.
  const host = focused?.closest('[role="dialog"]') ?? document.body;
  host.append(area);
  area.select();
  const isCopied = document.execCommand("copy");
  area.remove();
  if (focused instanceof HTMLElement) focused.focus();
  return isCopied;
}
