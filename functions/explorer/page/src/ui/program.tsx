// A program that runs a query, in the language that was chosen last.
import { useState } from "preact/hooks"
import type { Asked } from "../code/asked.ts"
import { languages } from "../code/code.ts"
import { read, write } from "../model/settings.ts"
import { CopyButton } from "./parts.tsx"

export function Program({ asked }: { asked: Asked }) {
  const [language, setLanguage] = useState(() => read("language", "Python"))
  const text = (languages[language] ?? languages["Python"]!)(asked)
  return (
    <>
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
      <pre class="code" tabIndex={0} role="region" aria-label="Program" data-test="code-text">
        {text}
      </pre>
    </>
  )
}
