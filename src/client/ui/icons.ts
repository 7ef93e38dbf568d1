// Icons that both the files page and other pages use. Re-exported here, they are bundled into one script. Imported
// directly from the library, each would become a separate script, because each is used by a different set of pages.
import {
  ArrowDown as ArrowDownIcon,
  ArrowUp as ArrowUpIcon,
  Check as CheckIcon,
  ChevronRight as ChevronRightIcon,
  Copy as CopyIcon,
  Download as DownloadIcon,
  EllipsisVertical as EllipsisVerticalIcon,
  Eye as EyeIcon,
  Folder as FolderIcon,
  FolderInput as FolderInputIcon,
  FolderOpen as FolderOpenIcon,
  FolderPlus as FolderPlusIcon,
  Image as ImageIcon,
  Info as InfoIcon,
  Link2 as Link2Icon,
  LogOut as LogOutIcon,
  Plus as PlusIcon,
  RotateCw as RotateCwIcon,
  Search as SearchIcon,
  Settings as SettingsIcon,
  Share2 as Share2Icon,
  Star as StarIcon,
  ShieldCheck as ShieldCheckIcon,
  Tag as TagIcon,
  Trash2 as Trash2Icon,
  TriangleAlert as TriangleAlertIcon,
  Upload as UploadIcon,
  UsersRound as UsersRoundIcon,
  X as XIcon,
} from "lucide-react";

export const ArrowDown = ArrowDownIcon;
export const ArrowUp = ArrowUpIcon;
export const Check = CheckIcon;
export const ChevronRight = ChevronRightIcon;
export const Copy = CopyIcon;
export const Download = DownloadIcon;
export const EllipsisVertical = EllipsisVerticalIcon;
export const Eye = EyeIcon;
export const Folder = FolderIcon;
export const FolderInput = FolderInputIcon;
export const FolderOpen = FolderOpenIcon;
export const FolderPlus = FolderPlusIcon;
export const Image = ImageIcon;
export const Info = InfoIcon;
export const Link2 = Link2Icon;
export const LogOut = LogOutIcon;
export const Plus = PlusIcon;
export const RotateCw = RotateCwIcon;
export const Search = SearchIcon;
export const Settings = SettingsIcon;
export const Share2 = Share2Icon;
export const Star = StarIcon;
export const ShieldCheck = ShieldCheckIcon;
export const Tag = TagIcon;
export const Trash2 = Trash2Icon;
export const TriangleAlert = TriangleAlertIcon;
export const Upload = UploadIcon;
export const UsersRound = UsersRoundIcon;
export const X = XIcon;
