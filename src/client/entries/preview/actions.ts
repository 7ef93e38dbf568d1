import type { MenuEntry } from "../../ui/menu-items.ts";

/** An action on the file in the preview. With `href`, it is a link. */
export interface PreviewAction extends MenuEntry {
  /**
   * Where it is shown: `bar` always in the bar, `wide` in the bar if there is room and in the menu on phones, `menu`
   * always in the menu (the default).
   */
  readonly shownIn?: "bar" | "wide" | "menu";
  /** The accessible name in the bar, if the label is not enough. */
  readonly name?: string;
  /** For actions that are on or off. */
  readonly isPressed?: boolean;
}
