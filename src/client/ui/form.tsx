import type { ComponentProps } from "react";

/** A form that the page submits itself, without loading another document. */
export function Form({
  onSubmit,
  ...rest
}: { readonly onSubmit: () => void } & Omit<ComponentProps<"form">, "onSubmit">) {
  return (
    <form
      {...rest}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}
