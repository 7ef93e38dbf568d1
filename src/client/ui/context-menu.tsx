export { ContextMenu } from "./menu.tsx";
