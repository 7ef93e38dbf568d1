/** The invitation code in pasted text: the code itself, or the link that has it as `token`. */
export function inviteCodeOf(pasted: string): string {
  const trimmed = pasted.trim();
  const query = trimmed.split("#")[0]?.split("?")[1];
  return query === undefined ? trimmed : (new URLSearchParams(query).get("token") ?? "");
}
