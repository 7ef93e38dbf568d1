import { createElement, useLayoutEffect, useRef } from "react";

/** Renders DOM nodes that were sanitized elsewhere. */
export function SanitizedContent({
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
