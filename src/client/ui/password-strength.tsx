import { strengthOf } from "../base/password-strength.ts";
import { cx } from "./cx.ts";
import { uiText } from "./text.ts";

const TONES = ["bg-sunken", "bg-danger", "bg-warning", "bg-success", "bg-success"];

/** Shows the strength of a new password in four steps and as text. */
export function PasswordStrength({ password }: { password: string }) {
  const strength = strengthOf(password);
  return (
    <div className="flex flex-col gap-1.5">
      <span aria-hidden className="grid grid-cols-4 gap-1.5">
        {[1, 2, 3, 4].map((step) => (
          <span key={step} className={cx("h-1.5 rounded-full", step <= strength ? TONES[strength] : "bg-sunken")} />
        ))}
      </span>
      <p aria-live="polite" className="text-sm text-muted">
        {uiText.passwordStrength(String(strength))}
      </p>
    </div>
  );
}
