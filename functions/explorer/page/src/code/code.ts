// Programs that run a query, in six languages. The key is never part of them: they read it from the environment.
import type { Asked } from "./asked.ts"
import { csharp } from "./csharp.ts"
import { curl } from "./curl.ts"
import { go } from "./go.ts"
import { java } from "./java.ts"
import { javascript } from "./javascript.ts"
import { python } from "./python.ts"

export const languages: Record<string, (q: Asked) => string> = { Python: python, JavaScript: javascript, Go: go, Java: java, "C#": csharp, curl }
