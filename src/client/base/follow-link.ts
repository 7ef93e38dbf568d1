/** Downloads `address` under `name`, through the browser's own download manager. An empty name is the server's. */
export function followLink(address: string, name = ""): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.hidden = true;
  document.body.append(link);
  link.click();
  link.remove();
}
