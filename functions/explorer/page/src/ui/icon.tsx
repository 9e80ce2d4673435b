// The icons of actions, from Lucide. The bundle has those in this list alone.
import { h } from "preact"
import {
  Activity, ArrowDown, ArrowDownWideNarrow, ArrowRight, ArrowUp, Check, ChevronRight, CircleCheck, CircleQuestionMark, CircleStop,
  Clock, Code, Columns3, Copy, CopyPlus, Download, Ellipsis, FileUp, House, KeyRound, Layers, ListFilter, Lock, LogOut, Moon, PanelLeft, Pencil, Play, Plus,
  Radio, RefreshCw, Save, SearchX, Settings2, Sigma, SlidersHorizontal, Sun, SunMoon, Table2, Trash, TriangleAlert, Undo2, Unplug, Upload, X, type IconNode,
} from "lucide"

export const icons = {
  activity: Activity, down: ArrowDown, latest: ArrowDownWideNarrow, right: ArrowRight, up: ArrowUp, check: Check, next: ChevronRight,
  well: CircleCheck, help: CircleQuestionMark, stop: CircleStop, clock: Clock, code: Code, columns: Columns3, copy: Copy, clone: CopyPlus, download: Download, more: Ellipsis, file: FileUp,
  home: House, key: KeyRound, layers: Layers, live: Radio, filter: ListFilter, lock: Lock, leave: LogOut, moon: Moon, sidebar: PanelLeft, edit: Pencil, run: Play, plus: Plus, refresh: RefreshCw, save: Save,
  nothing: SearchX, options: Settings2, sum: Sigma, builder: SlidersHorizontal, sun: Sun, auto: SunMoon, table: Table2, trash: Trash, warning: TriangleAlert, undo: Undo2, gone: Unplug,
  upload: Upload, close: X,
} satisfies Record<string, IconNode>

export type IconName = keyof typeof icons

/** Icon is decoration: what it stands for is a text beside it or the label of its button. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    {icons[name].map(([tag, attributes], i) => h(tag, { ...attributes, key: i }))}
  </svg>
)
