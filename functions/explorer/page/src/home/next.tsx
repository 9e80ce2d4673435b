// What to do next: a program of one's own, access for others, and the keys of this page.
import { go } from "../model/route.ts"
import type { Service } from "../wire/client.ts"
import { Icon } from "../ui/icon.tsx"
import { CopyButton } from "../ui/parts.tsx"
import { Program } from "../ui/program.tsx"

export function Next({ service, example, keys }: { service: Service; example: string | undefined; keys: () => void }) {
  const { account, endpoint } = service
  const connection = `DefaultEndpointsProtocol=${endpoint.split(":")[0]};AccountName=${account};AccountKey=KEY;TableEndpoint=${endpoint};`
  return (
    <section class="next" aria-label="What to do next">
      <div class="card">
        <h2>Use it from a program</h2>
        {endpoint && (
          <div class="connection">
            <code tabIndex={0}>{connection}</code>
            <CopyButton text={() => connection} label="Copy" />
          </div>
        )}
        {endpoint && <Program asked={{ table: example ?? "People", filter: "", select: [], endpoint, account }} />}
      </div>
      <div class="card steps">
        <h2>What next</h2>
        {service.sign && (
          <button type="button" class="choice" onClick={() => go({ access: "token" })}>
            <Icon name="key" /> <span>Give somebody access with a token that expires</span>
          </button>
        )}
        <button type="button" class="choice" onClick={() => go({ access: "keys" })}>
          <Icon name="clock" /> <span>See when the keys were used</span>
        </button>
        <button type="button" class="choice" onClick={() => go({ access: "cors" })}>
          <Icon name="lock" /> <span>Allow pages of other origins</span>
        </button>
        <button type="button" class="choice" onClick={keys}>
          <Icon name="help" /> <span>Learn the keyboard of this page</span>
        </button>
      </div>
    </section>
  )
}
