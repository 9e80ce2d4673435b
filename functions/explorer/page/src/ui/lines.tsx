// A textarea for a value, which keeps its line ends.
import { useState } from "preact/hooks"
import type { ComponentProps } from "preact"
import { usualEnd, withEnds } from "../model/lineends.ts"

type Props = Omit<ComponentProps<"textarea">, "value" | "onInput"> & { text: string; set: (text: string) => void }

export function Lines({ text, set, ...rest }: Props) {
  const [usual] = useState(() => usualEnd(text))
  return <textarea {...rest} value={text} onInput={(e) => set(withEnds(e.currentTarget.value, text, usual))} />
}
