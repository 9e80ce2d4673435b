// A program that runs a query, in the language that was chosen last.
import { useState } from "preact/hooks"
import type { Asked } from "../code/asked.ts"
import { languages } from "../code/code.ts"
import { read, write } from "../model/settings.ts"
import { CopyButton, Tabs } from "./parts.tsx"

const names = Object.fromEntries(Object.keys(languages).map((l) => [l, l]))

export function Program({ asked }: { asked: Asked }) {
  const [language, setLanguage] = useState(() => read("language", "Python"))
  const text = (languages[language] ?? languages["Python"]!)(asked)
  return (
    <>
      <div class="bar">
        <Tabs label="Language" choices={names} now={language} choose={(l) => (setLanguage(l), write("language", l))} />
        <span class="grow" />
        <CopyButton text={() => text} />
      </div>
      <pre class="code" tabIndex={0} role="region" aria-label="Program" data-test="code-text">
        {text}
      </pre>
    </>
  )
}
