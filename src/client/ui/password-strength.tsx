import { cx } from "./cx.ts";
import { uiText } from "./text.ts";

/** The strength of a password from 0 to 4, by length alone, because length is what makes it hard to guess. */
export function strengthOf(password: string): 0 | 1 | 2 | 3 | 4 {
  const characters = [...password];
  // Repeated characters count at most three times.
  const length = Math.min(characters.length, new Set(characters).size * 3);
  if (length === 0) return 0;
  if (characters.length < 8 || length < 8) return 1;
  if (length < 12) return 2;
  return length < 16 ? 3 : 4;
}

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
        {uiText.passwordStrength(strength)}
      </p>
    </div>
  );
}
