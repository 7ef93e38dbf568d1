import { useEffect, useState } from "react";
import { whenIdle } from "../base/when-idle.ts";

/** Whether the page has been idle once since the first render: for parts that are not visible at first. */
export function useWasIdle(): boolean {
  const [wasIdle, setWasIdle] = useState(false);
  useEffect(() => whenIdle(() => setWasIdle(true)), []);
  return wasIdle;
}
