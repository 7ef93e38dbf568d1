import { useEffect, useState } from "react";
import { whenIdle } from "../base/when-idle.ts";

/** Whether the page has had nothing to do since this was first drawn: for parts that are not seen at first. */
export function useWasIdle(): boolean {
  const [wasIdle, setWasIdle] = useState(false);
  useEffect(() => whenIdle(() => setWasIdle(true)), []);
  return wasIdle;
}
