/** What a check found. `wrong`: something does not work. */
export interface Finding {
  readonly state: "ok" | "note" | "wrong";
  readonly text: string;
  /** The subject, if it is not the one of the check. */
  readonly about?: string;
}

/** A check that found nothing to mention returns undefined. An error is a finding too. */
export type Check = readonly [about: string, run: () => CheckResult | Promise<CheckResult>];

type CheckResult = Finding | readonly Finding[] | undefined;

/** Everything is fine. */
export function ok(text: string): Finding {
  return { state: "ok", text };
}

/** Worth knowing, but nothing is broken. */
export function note(text: string): Finding {
  return { state: "note", text };
}

/** Something does not work; the exit code is 1. */
export function wrong(text: string): Finding {
  return { state: "wrong", text };
}
