import { clsx, type ClassValue } from "clsx";

/** Joins class names; false, null and undefined are left out. */
export function cx(...names: ClassValue[]): string {
  return clsx(names);
}
