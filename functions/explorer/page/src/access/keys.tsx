// When the keys of the account were last used, in words. The keys themselves never come here.
import { useEffect, useState } from "preact/hooks"
import { useStore } from "../model/store.ts"
import { look } from "../model/settings.ts"
import { ErrorLine } from "../ui/parts.tsx"
import type { Service } from "../wire/client.ts"
import { type Zone, moment } from "../wire/date.ts"

interface Account {
  name: string
  disabled: boolean
  /** file of the accounts; without one, last uses are known since the server started */
  file: string
  keys: { key: number; lastUsed: string | null }[]
}

export function Keys({ service }: { service: Service }) {
  const [account, setAccount] = useState<Account>()
  const [failure, setFailure] = useState<Error>()
  const { zone } = useStore(look)
  const load = () => {
    setFailure(undefined)
    service.about!<Account>("accounts", "").then(setAccount, setFailure)
  }
  useEffect(() => {
    if (service.local) load()
  }, [service])
  if (!service.local)
    return (
      <p data-test="keys">
        This service does not show when its keys were used. For a server of edgetable, run this on its machine: <code>edgetable account list --data DIRECTORY</code>, or open this page with <code>edgetable explorer --data DIRECTORY</code>.
      </p>
    )
  if (failure) return <ErrorLine failure={failure} retry={load} />
  if (!account) return <p class="dim">Loading …</p>
  return (
    <div data-test="keys">
      <p>
        The account <b>{account.name}</b> is {account.disabled ? "disabled: the server refuses all its requests." : "enabled."} It has {account.keys.length === 1 ? "one key" : `${account.keys.length} keys`}.
      </p>
      <ul class="words">
        {account.keys.map((k) => (
          <li key={k.key}>{sentence(k.key, k.lastUsed, account.file !== "", zone)}</li>
        ))}
      </ul>
      <p class="dim">{advice(account)}</p>
    </div>
  )
}

function sentence(key: number, lastUsed: string | null, kept: boolean, zone: Zone): string {
  if (lastUsed) return `Key ${key} was last used on ${moment(Date.parse(lastUsed), zone)}.`
  return `Key ${key} was ${kept ? "never used" : "not used since the server started"}.`
}

function advice({ name, file, keys }: Account): string {
  if (!file) return "The account is not in a file: its key comes from the environment, or it is the development account, whose key is public."
  if (keys.length > 1) return `When key 1 is not used any more, 'edgetable account rotate ${name} --accounts ${file} --finish' removes it.`
  return `'edgetable account rotate ${name} --accounts ${file}' adds a second key, to replace the first one.`
}
