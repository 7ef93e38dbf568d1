import { EyeOff } from "lucide-react";
import { Eye } from "./icons.ts";
import { type ComponentProps, useState } from "react";
import { Field, type FieldFrame } from "./field.tsx";
import { IconButton } from "./icon-button.tsx";
import { uiText } from "./text.ts";

/**
 * A password field with a button to show the password.
 * @param autoComplete `current-password` or `new-password`
 */
export function PasswordField({
  label,
  hint,
  error,
  className,
  value,
  onChange,
  ...rest
}: FieldFrame & {
  readonly value: string;
  readonly onChange: (value: string) => void;
} & Omit<ComponentProps<"input">, "value" | "onChange" | "className" | "type">) {
  const [isShown, setIsShown] = useState(false);
  return (
    <Field label={label} hint={hint} error={error} className={className}>
      {(ids) => (
        <div className="relative">
          <input
            autoComplete="current-password"
            autoCapitalize="off"
            spellCheck={false}
            {...rest}
            {...ids}
            type={isShown ? "text" : "password"}
            value={value}
            onChange={(event) => onChange(event.target.value)}
            className="field control pe-12"
          />
          <IconButton
            className="absolute inset-y-0 end-0 h-full"
            label={isShown ? uiText.hidePassword : uiText.showPassword}
            icon={isShown ? EyeOff : Eye}
            onClick={() => setIsShown(!isShown)}
          />
        </div>
      )}
    </Field>
  );
}
