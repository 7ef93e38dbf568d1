import { clsx, type ClassValue } from "clsx";

/** Joins class names; what is false, null or undefined is left out. */
export function cx(...names: ClassValue[]): string {
  return clsx(names);
}
