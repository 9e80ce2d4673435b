// Where a file is dropped or chosen.
import { useState } from "preact/hooks"
import { Icon } from "../ui/icon.tsx"
import { size } from "../model/words.ts"

export function Drop({ file, choose }: { file: File | undefined; choose: (file: File | undefined) => void }) {
  const [over, setOver] = useState(false)
  return (
    <div
      class={`drop${file ? " small" : ""}${over ? " over" : ""}`}
      onDragOver={(e) => (e.preventDefault(), setOver(true))}
      onDragLeave={() => setOver(false)}
      onDrop={(e) => (e.preventDefault(), setOver(false), choose(e.dataTransfer?.files[0]))}
    >
      <Icon name={file ? "file" : "upload"} />
      <b>{file ? file.name : "Drop a file here, or choose one"}</b>
      <span class="dim">{file ? size(file.size) : "JSON lines, a JSON array, or CSV"}</span>
      <input type="file" aria-label="File: JSON lines, a JSON array, or CSV" accept=".json,.jsonl,.ndjson,.csv,.tsv,.txt" data-test="import-file" onChange={(e) => choose(e.currentTarget.files?.[0])} />
    </div>
  )
}
