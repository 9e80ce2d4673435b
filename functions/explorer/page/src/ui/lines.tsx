// A textarea for a value, which keeps its line ends.
import { useState } from "preact/hooks"
import type { ComponentProps, TargetedInputEvent } from "preact"
import { pasted } from "../model/copy.ts"
import { usualEnd, withEnds } from "../model/lineends.ts"

type Props = Omit<ComponentProps<"textarea">, "value" | "onInput"> & { text: string; set: (text: string) => void }

export function Lines({ text, set, ...rest }: Props) {
  const [usual] = useState(() => usualEnd(text))
  const typed = (e: TargetedInputEvent<HTMLTextAreaElement>) => {
    const { value } = e.currentTarget
    const all = pasted(value) // over all that was there
    set(e.inputType === "insertFromPaste" && all.alone ? all.text : withEnds(value, text, usual))
  }
  return <textarea {...rest} value={text} onInput={typed} />
}
