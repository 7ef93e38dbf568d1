/** The problems that the validation of schemas finds, as messages that can be translated. */
import { type Message, say, sayText } from "../translations/say.ts";

/** The texts of the validation library, with their values. Its others are about types that JSON doesn't have. */
const PROBLEMS: readonly (readonly [RegExp, (value: string) => Message])[] = [
  [/^Expected required property$/, () => say`Expected required property`],
  [/^Unexpected property$/, () => say`Unexpected property`],
  [/^Expected string$/, () => say`Expected string`],
  [/^Expected string length less or equal to (\d+)$/, (max) => say`Expected string length less or equal to ${max}`],
  [
    /^Expected string length greater or equal to (\d+)$/,
    (min) => say`Expected string length greater or equal to ${min}`,
  ],
  [/^Expected string to match ('.*') format$/s, (format) => say`Expected string to match ${format} format`],
  [/^Expected string to match ('.*')$/s, (pattern) => say`Expected string to match ${pattern}`],
  [/^Expected number$/, () => say`Expected number`],
  [/^Expected number to be less or equal to (.+)$/, (max) => say`Expected number to be less or equal to ${max}`],
  [/^Expected number to be greater or equal to (.+)$/, (min) => say`Expected number to be greater or equal to ${min}`],
  [/^Expected number to be greater than (.+)$/, (min) => say`Expected number to be greater than ${min}`],
  [/^Expected integer$/, () => say`Expected integer`],
  [/^Expected integer to be less or equal to (.+)$/, (max) => say`Expected integer to be less or equal to ${max}`],
  [
    /^Expected integer to be greater or equal to (.+)$/,
    (min) => say`Expected integer to be greater or equal to ${min}`,
  ],
  [/^Expected boolean$/, () => say`Expected boolean`],
  [/^Expected object$/, () => say`Expected object`],
  [/^Expected null$/, () => say`Expected null`],
  [/^Expected array$/, () => say`Expected array`],
  [
    /^Expected array length to be less or equal to (\d+)$/,
    (max) => say`Expected array length to be less or equal to ${max}`,
  ],
  [
    /^Expected array length to be greater or equal to (\d+)$/,
    (min) => say`Expected array length to be greater or equal to ${min}`,
  ],
  [/^Expected array elements to be unique$/, () => say`Expected array elements to be unique`],
  [/^Expected union value$/, () => say`Expected union value`],
  [/^Expected ('.*')$/s, (value) => say`Expected ${value}`],
];

/**
 * The message for a value that a schema rejected.
 * @param field in the notation of the API: `deviceInfo.platform`
 * @param problem the text of the validation library; undefined if it has none
 */
export function schemaProblem(field: string, problem: string | undefined): Message {
  const text = problem === undefined ? say`the value is not allowed` : translatable(problem);
  return say`${field} is not valid: ${text}. See /docs for the allowed values.`;
}

function translatable(problem: string): Message {
  for (const [pattern, toMessage] of PROBLEMS) {
    const found = pattern.exec(problem);
    if (found !== null) return toMessage(found[1] ?? "");
  }
  return sayText(problem);
}
