import { useState } from "preact/hooks"
import type { Asked } from "../code/asked.ts"
import { languages } from "../code/code.ts"
import { read, write } from "../model/settings.ts"
import { CopyButton, Dialog } from "./parts.tsx"

export function CodeMenu({ asked }: { asked: Asked }) {
  const [open, setOpen] = useState(false)
  const [language, setLanguage] = useState(() => read("language", "Python"))
  const text = open ? (languages[language] ?? languages["Python"]!)(asked) : ""
  return (
    <>
      <button type="button" data-test="code" title="A program for this query" onClick={() => setOpen(true)}>
        Code
      </button>
      {open && (
        <Dialog title="Code for this query" close={() => setOpen(false)} test="code-dialog">
          <div class="bar">
            <div class="tabs" role="group" aria-label="Language">
              {Object.keys(languages).map((l) => (
                <button type="button" key={l} aria-pressed={l === language} onClick={() => (setLanguage(l), write("language", l))}>
                  {l}
                </button>
              ))}
            </div>
            <span class="grow" />
            <CopyButton text={() => text} />
          </div>
          <pre class="code" tabIndex={0} aria-label="Program" data-test="code-text">
            {text}
          </pre>
        </Dialog>
      )}
    </>
  )
}
