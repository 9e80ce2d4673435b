// Who may use the account: tokens, policies, CORS rules, and what the service records.
import { go } from "../model/route.ts"
import type { Service } from "../wire/client.ts"
import { Dialog, Tabs } from "../ui/parts.tsx"
import { Keys } from "./keys.tsx"
import { Policies } from "./policies.tsx"
import { ServiceProperties } from "./service.tsx"
import { TokenForm } from "./token.tsx"

const parts = { token: "Token (SAS)", policies: "Access policies", cors: "CORS", service: "Logging and metrics", keys: "Keys" }

export function Access({ service, table, part, close }: { service: Service; table: string; part: string; close: () => void }) {
  return (
    <Dialog title={`Access to ${service.account || service.name}`} close={close} test="access">
      <div class="access">
        <Tabs label="What to see" test="access" choices={parts} now={part} choose={(p) => go({ access: p }, true)} />
        {part === "token" && <TokenForm service={service} table={table} />}
        {part === "policies" && <Policies service={service} table={table} />}
        {part === "cors" && <ServiceProperties service={service} part="cors" />}
        {part === "keys" && <Keys service={service} />}
        {part === "service" && <ServiceProperties service={service} part="service" />}
      </div>
    </Dialog>
  )
}
