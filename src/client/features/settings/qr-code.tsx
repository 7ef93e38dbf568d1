import { useQuery } from "@tanstack/react-query";

/**
 * A text as a QR code: dark on light in every theme, because many cameras read nothing else.
 * @param label a description for screen readers
 */
export function QrCode({ value, label }: { value: string; label: string }) {
  const code = useQuery({
    queryKey: ["qr-code", value],
    queryFn: async () => {
      const { encode } = await import("uqr");
      return encode(value, { ecc: "M", border: 2 }).data;
    },
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const size = code.data?.length ?? 1;
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="mx-auto size-52 rounded-lg bg-white"
    >
      <path fill="#000000" d={code.data === undefined ? "" : pathOf(code.data)} />
    </svg>
  );
}

function pathOf(rows: readonly (readonly boolean[])[]): string {
  return rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join("");
}
