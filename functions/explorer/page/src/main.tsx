import { render } from "preact"
import { follow } from "./model/route.ts"
import { App } from "./ui/app.tsx"

const root = document.getElementById("app")
if (root) {
  follow()
  render(<App />, root)
}
