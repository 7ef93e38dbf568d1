import { createElement, useLayoutEffect, useRef } from "react";

/** Puts nodes that were made elsewhere, and are known to be harmless, into an element. */
export function Fragment({
  as,
  content,
  className,
}: {
  readonly as: "article" | "code";
  readonly content: DocumentFragment;
  readonly className: string;
}) {
  const element = useRef<HTMLElement>(null);
  useLayoutEffect(() => {
    element.current?.replaceChildren(content.cloneNode(true));
  }, [content]);
  return createElement(as, { ref: element, className });
}
