// Who may use the account: tokens, policies, CORS rules, and what the service records.
import { go } from "../model/route.ts"
import type { Home } from "../wire/client.ts"
import { Dialog } from "../ui/parts.tsx"
import { Keys } from "./keys.tsx"
import { Policies } from "./policies.tsx"
import { Service } from "./service.tsx"
import { TokenForm } from "./token.tsx"

const parts = { token: "Token (SAS)", policies: "Access policies", cors: "CORS", service: "Logging and metrics", keys: "Keys" } as const
type Part = keyof typeof parts

export function Access({ home, table, part, close }: { home: Home; table: string; part: string; close: () => void }) {
  return (
    <Dialog title={`Access to ${home.account || home.name}`} close={close} test="access">
      <div class="access">
        <div class="tabs" role="group" aria-label="What to see">
          {(Object.keys(parts) as Part[]).map((p) => (
            <button key={p} type="button" aria-pressed={p === part} data-test={`access-${p}`} onClick={() => go({ access: p }, true)}>
              {parts[p]}
            </button>
          ))}
        </div>
        {part === "token" && <TokenForm home={home} table={table} />}
        {part === "policies" && <Policies home={home} table={table} />}
        {part === "cors" && <Service home={home} part="cors" />}
        {part === "keys" && <Keys home={home} />}
        {part === "service" && <Service home={home} part="service" />}
      </div>
    </Dialog>
  )
}
