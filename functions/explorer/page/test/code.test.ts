// The programs in test/code are what the page writes for one query. test/code/run executes them with the SDKs.
import assert from "node:assert/strict"
import { readFileSync, writeFileSync } from "node:fs"
import test from "node:test"
import { languages } from "../src/code/code.ts"

const asked = {
  table: "ExplorerCode",
  filter: "PartitionKey eq 'p' and (RowKey ge 'a' and RowKey lt 'b') and Name eq 'O''Hara \"x\" \\ é\t$'",
  select: ["RowKey", "Name"],
  endpoint: "http://127.0.0.1:10002/devstoreaccount1",
  account: "devstoreaccount1",
}

const files: Record<string, string> = { Python: "query.py", JavaScript: "query.mjs", Go: "query.txt", Java: "Query.java", "C#": "query.cs", curl: "query.sh" }

for (const [language, file] of Object.entries(files)) {
  test(`code in ${language}`, () => {
    const path = `../page/test/code/${file}`
    const text = languages[language]!(asked)
    if (process.env["UPDATE"]) writeFileSync(path, text)
    assert.equal(text, readFileSync(path, "utf8"))
    assert.ok(!/Key=|AccountKey/.test(text.replace("PartitionKey", "").replace("RowKey", "")), "no key is in it")
  })
}

test("a query without filter and properties has none in its code", () => {
  for (const write of Object.values(languages)) assert.doesNotMatch(write({ ...asked, filter: "", select: [] }), /\$filter|\bfilter\b|Filter\(|\$select|select[:=]|setSelect|options\./)
})
