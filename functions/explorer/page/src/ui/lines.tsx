// A textarea for a value, which keeps its line ends.
import { useState } from "preact/hooks"
import type { ComponentProps, TargetedEvent, TargetedInputEvent } from "preact"
import { note, own } from "../model/copy.ts"
import { part, shown, usualEnd, withEnds } from "../model/lineends.ts"

type Props = Omit<ComponentProps<"textarea">, "value" | "onInput"> & { text: string; set: (text: string) => void }

/** mostKept bounds the texts of before to which the browser can go back. */
const mostKept = 200

export function Lines({ text, set, ...rest }: Props) {
  const [usual] = useState(() => usualEnd(text))
  const [before] = useState(() => new Map<string, string>()) // by what the textarea showed
  const typed = (e: TargetedInputEvent<HTMLTextAreaElement>) => {
    const { value, selectionEnd } = e.currentTarget
    if (text.includes("\r")) before.set(shown(text), text)
    if (before.size > mostKept) before.delete(before.keys().next().value!)
    const again = /^history/.test(e.inputType) ? before.get(value) : undefined
    set(again ?? withEnds(value, text, usual, selectionEnd, e.inputType === "insertFromPaste" ? own() : ""))
  }
  const copied = ({ currentTarget: { selectionStart, selectionEnd } }: TargetedEvent<HTMLTextAreaElement>) => selectionStart < selectionEnd && note(part(text, selectionStart, selectionEnd))
  return <textarea {...rest} value={text} onInput={typed} onCopy={copied} onCut={copied} />
}
