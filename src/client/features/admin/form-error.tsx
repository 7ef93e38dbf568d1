import { CircleAlert } from "lucide-react";

/** The error of a form, shown in the form. */
export function FormError({ text }: { readonly text: string }) {
  return (
    <p role="alert" className="flex items-start gap-2 rounded-lg bg-danger-soft px-3 py-2 text-sm text-danger">
      <CircleAlert aria-hidden size={18} className="mt-px shrink-0" />
      <span className="min-w-0 break-words">{text}</span>
    </p>
  );
}
