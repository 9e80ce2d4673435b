import assert from "node:assert/strict"
import { createHash, createHmac } from "node:crypto"
import test from "node:test"
import { exact, show, textOf, ticksOf } from "../src/wire/date.ts"
import { hmac, sha256 } from "../src/wire/hmac.ts"
import { Malformed, body, member, parseEntity, pretty } from "../src/wire/json.ts"
import { address, after, literal, prefixed } from "../src/wire/odata.ts"
import { Page } from "../src/wire/page.ts"
import { parseConnection } from "../src/wire/connection.ts"
import { importKey, signPlain, signWith, stringToSign } from "../src/wire/sign.ts"
import { Failure, failure, patiently } from "../src/wire/failure.ts"
import { type Value, check } from "../src/wire/value.ts"

const bytes = (s: string) => new TextEncoder().encode(s)

test("SHA-256 and HMAC are those of Node.js", () => {
  for (let n = 0; n < 200; n++) {
    const data = bytes("ä".repeat(n))
    const key = bytes("k".repeat(n))
    assert.deepEqual([...sha256(data)], [...createHash("sha256").update(data).digest()])
    assert.deepEqual([...hmac(key, data)], [...createHmac("sha256", key).update(data).digest()])
  }
})

test("a request is signed as SharedKeyLite wants it, with and without WebCrypto", async () => {
  // The key is the public one of the emulator.
  const key = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
  const url = new URL("http://127.0.0.1:10002/devstoreaccount1/People(PartitionKey='a%20b',RowKey='%2F')?comp=acl&timeout=3")
  const text = stringToSign("Wed, 04 Mar 2026 05:06:07 GMT", "devstoreaccount1", url)
  assert.equal(text, "Wed, 04 Mar 2026 05:06:07 GMT\n/devstoreaccount1/devstoreaccount1/People(PartitionKey='a%20b',RowKey='%2F')?comp=acl")
  const want = createHmac("sha256", Buffer.from(key, "base64")).update(text).digest("base64")
  assert.equal(await signWith(await importKey(key))(text), want)
  assert.equal(await signPlain(key)(text), want)
})

test("a key of the browser cannot be read again", async () => {
  const key = await importKey("a2V5")
  assert.equal(key.extractable, false)
  await assert.rejects(crypto.subtle.exportKey("raw", key))
})

test("dates keep 100 ns", () => {
  for (const [typed, want] of [
    ["2026-03-04T05:06:07.1234567Z", "2026-03-04T05:06:07.1234567Z"],
    ["2026-03-04 05:06:07.1", "2026-03-04T05:06:07.1Z"],
    ["2026-03-04T01:00:00+02:00", "2026-03-03T23:00:00Z"],
    ["1601-01-01T00:00Z", "1601-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59.9999999Z", "9999-12-31T23:59:59.9999999Z"],
    ["1969-12-31T23:59:59.9999999Z", "1969-12-31T23:59:59.9999999Z"],
  ]) {
    assert.equal(exact(typed!), want)
    assert.equal(ticksOf(show(want!, "local")), ticksOf(want!))
    assert.equal(ticksOf(show(want!, "utc")), ticksOf(want!))
  }
  for (const wrong of ["", "1600-12-31T23:59:59Z", "2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-03-04T24:00:00Z", "2026-03-04T05:06:07.12345678Z", "yesterday"]) {
    assert.equal(ticksOf(wrong), undefined, wrong)
  }
  assert.equal(textOf(-1n), "1969-12-31T23:59:59.9999999Z")
})

const all = `{"odata.etag":"W/\\"e\\"","PartitionKey":"p","RowKey":"r","Timestamp":"2026-03-04T05:06:09.1234567Z","S":"a\\"\\u00e9\\n","Empty":"","B":true,"I":-5,"L@odata.type":"Edm.Int64","L":"9223372036854775807","D":2.5,"Whole":3.0,"NaN@odata.type":"Edm.Double","NaN":"NaN","Big":1.7976931348623157E+308,"When@odata.type":"Edm.DateTime","When":"2013-08-22T00:00:16.1230001Z","G@odata.type":"Edm.Guid","G":"c9da6455-213d-42c9-9a79-3e9149a57833","Bin@odata.type":"Edm.Binary","Bin":"YmluYXJ5","None":null}`

test("an entity keeps types and texts through JSON", () => {
  const e = parseEntity(all)
  assert.equal(e.etag, 'W/"e"')
  assert.deepEqual(Object.fromEntries([...e.values].map(([n, v]) => [n, v.type + " " + v.text])), {
    PartitionKey: "String p", RowKey: "String r", Timestamp: "DateTime 2026-03-04T05:06:09.1234567Z", S: 'String a"é\n', Empty: "String ", B: "Boolean true", I: "Int32 -5",
    L: "Int64 9223372036854775807", D: "Double 2.5", Whole: "Double 3.0", NaN: "Double NaN", Big: "Double 1.7976931348623157E+308",
    When: "DateTime 2013-08-22T00:00:16.1230001Z", G: "Guid c9da6455-213d-42c9-9a79-3e9149a57833", Bin: "Binary YmluYXJ5",
  })
  const again = parseEntity(pretty(e.values))
  assert.deepEqual([...again.values], [...e.values])
  assert.ok(!body(e.values).includes("Timestamp"))
  JSON.parse(pretty(e.values))
})

test("a Double that looks whole stays one", () => {
  assert.equal(member("D", { type: "Double", text: "3" }), '"D":3.0')
  assert.equal(member("D", { type: "Double", text: "-Infinity" }), '"D@odata.type":"Edm.Double","D":"-Infinity"')
  assert.equal(member("D", { type: "Double", text: "1." }), '"D@odata.type":"Edm.Double","D":"1."')
})

test("what is no entity is told with its place", () => {
  for (const [text, at] of [["{", 1], ['{"a" 1}', 5], ['{"a":1,}', 7], ['{"a":[1]}', 5], ['{"a":1} x', 8], ['{"a":1,"a":2}', 7], ['{"a":"x', 5], ['{"a@odata.type":"Edm.Int8","a":"1"}', 16]] as const) {
    assert.throws(() => parseEntity(text), (e) => e instanceof Malformed && e.at === at, text)
  }
})

test("values are checked", () => {
  const good: Value[] = [
    { type: "Int32", text: "-2147483648" }, { type: "Int64", text: "9223372036854775807" }, { type: "Double", text: "1E-05" }, { type: "Double", text: "-Infinity" },
    { type: "Guid", text: "c9da6455-213d-42c9-9a79-3e9149a57833" }, { type: "Binary", text: "" }, { type: "Binary", text: "YQ==" }, { type: "String", text: "" },
  ]
  for (const v of good) assert.equal(check(v), "", v.text)
  const bad: Value[] = [
    { type: "Int32", text: "2147483648" }, { type: "Int64", text: "9223372036854775808" }, { type: "Int64", text: "" }, { type: "Double", text: "one" }, { type: "Boolean", text: "yes" },
    { type: "Guid", text: "c9da6455" }, { type: "Binary", text: "YQ=" }, { type: "DateTime", text: "2026" }, { type: "String", text: "x".repeat(32769) },
  ]
  for (const v of bad) assert.notEqual(check(v), "", v.text)
})

test("a page finds its entities and names", () => {
  const page = Page.scan(bytes(`{"odata.metadata":"x","value":[${all}, {"PartitionKey":"p2","RowKey":"}]\\\\","Ä":1}\n]}`))
  assert.equal(page.length, 2)
  assert.equal(page.entity(0).values.get("L")?.text, "9223372036854775807")
  assert.equal(page.entity(1).values.get("RowKey")?.text, "}]\\")
  assert.deepEqual(page.names.slice(-2), ["None", "Ä"])
  assert.equal(Page.scan(bytes('{"value":[]}')).length, 0)
  const large = `{"odata.metadata":"\\"value\\":[é","value":[{"PartitionKey":"${"ü€😀\\\"{}".repeat(40_000)}","RowKey":"1"},{"PartitionKey":"\u0085{","value":1.0,"RowKey":"2"}]}`
  const found = Page.scan(bytes(large))
  assert.equal(found.entity(0).values.get("PartitionKey")?.text.length, 7 * 40_000)
  assert.deepEqual([...found.entity(1).values.values()].map((v) => v.text), ["\u0085{", "1.0", "2"])
  for (const wrong of ['{"value":[{"a":{"b":1}}]}', '{"value":[1]}', '{"value":1}', "[]", "null", "<html>"]) assert.throws(() => Page.scan(bytes(wrong)), /not a page of entities/, wrong)
})

test("a page that is cut anywhere is refused", () => {
  const whole = bytes(`{"odata.metadata":"x","value":[{"PartitionKey":"p","RowKey":"r","a":1},{"PartitionKey":"p","RowKey":"s"}]}`)
  for (let n = 0; n < whole.length; n++) assert.throws(() => Page.scan(whole.subarray(0, n)), Malformed, String(n))
})

test("literals, addresses and prefixes", () => {
  assert.equal(literal({ type: "String", text: "O'Hara" }), "'O''Hara'")
  assert.equal(literal({ type: "Int64", text: "9223372036854775807" }), "9223372036854775807L")
  assert.equal(literal({ type: "Double", text: "3" }), "3.0")
  assert.equal(literal({ type: "Binary", text: "AP8=" }), "X'00ff'")
  assert.equal(address("T", { pk: "a/b'c", rk: "é%" }), "T(PartitionKey=%27a%2Fb%27%27c%27,RowKey=%27%C3%A9%25%27)")
  assert.equal(prefixed("RowKey", "ab"), "RowKey ge 'ab' and RowKey lt 'ac'")
  for (const [prefix, next] of [["a\ud7ff", "a\u{10000}"], ["😀", "😁"], ["\u{103ff}", "\u{10400}"], ["\u{10ffff}", "\ue000"], ["a\uffff", "b"], ["\uffff", undefined], ["", undefined]] as const) {
    assert.equal(after(prefix), next)
    if (next !== undefined) for (const end of ["", "z", "\uffff", "😀"]) assert.ok(prefix + end < next)
  }
})

test("connection strings and URLs with tokens", () => {
  assert.deepEqual(parseConnection("DefaultEndpointsProtocol=https;AccountName=acme;AccountKey=a2V5;EndpointSuffix=core.windows.net"), { endpoint: "https://acme.table.core.windows.net", account: "acme", key: "a2V5" })
  assert.equal(parseConnection("UseDevelopmentStorage=true").endpoint, "http://127.0.0.1:10002/devstoreaccount1")
  assert.deepEqual(parseConnection("TableEndpoint=http://h/acme/;SharedAccessSignature=sv=1&sig=x"), { endpoint: "http://h/acme", account: "acme", sas: "sv=1&sig=x" })
  assert.deepEqual(parseConnection("https://acme.table.core.windows.net/People?sv=1&tn=people&sig=x"), { endpoint: "https://acme.table.core.windows.net", account: "acme", sas: "sv=1&tn=people&sig=x" })
  for (const wrong of ["", "AccountName=acme", "nonsense", "https://acme.table.core.windows.net/", "AccountName=a;AccountKey=???"]) assert.throws(() => parseConnection(wrong), Error, wrong)
})

test("errors of services are read in both forms", () => {
  const json = failure(412, '{"odata.error":{"code":"UpdateConditionNotSatisfied","message":{"lang":"en-US","value":"3:The update condition was not met.\\nRequestId:1\\nTime:2"}}}', "")
  assert.deepEqual([json.code, json.message, json.index], ["UpdateConditionNotSatisfied", "The update condition was not met.", 3])
  const xml = failure(403, "<?xml version='1.0'?><Error><Code>AuthenticationFailed</Code><Message>no\nRequestId:1</Message></Error>", "")
  assert.match(xml.message, /key is wrong, the token has expired/)
  const busy = failure(503, "", "ServerBusy", "7")
  const said = failure(401, '{"odata.error":{"code":"NoSession","message":{"value":"this window has no session: open the link that \'edgetable explorer\' printed last"}}}', "")
  assert.equal(said.message, "This window has no session: open the link that 'edgetable explorer' printed last.")
  assert.ok(busy instanceof Failure && busy.retryAfter === 7 && busy.transient)
  const refused = failure(403, JSON.stringify({ "odata.error": { code: "AuthenticationFailed", message: { value: 'Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature. Detail: no key of account acme made this signature. Check that the key is base64-decoded before signing, that … The SharedKeyLite string to sign is, with \\n for a line feed: "Sat"\nRequestId:1' } } }), "")
  assert.equal(refused.message, "The signature was refused: the key is wrong, the token has expired, or the clock of this machine is wrong. (no key of account acme made this signature)")
  const plain = failure(403, JSON.stringify({ "odata.error": { code: "AuthenticationFailed", message: { value: "Server failed to authenticate the request. Make sure the value of Authorization header is formed correctly including the signature.\nRequestId:1" } } }), "")
  assert.equal(plain.message, "The signature was refused: the key is wrong, the token has expired, or the clock of this machine is wrong.")
})

test("an answer 403 says what it means, and whether something else may be permitted", () => {
  for (const [code, message, says, forbids] of [
    ["AuthorizationPermissionMismatch", "", "The token does not permit this.", true],
    ["AuthorizationFailure", "This request is not authorized to perform this operation.", "The token or the account does not permit this. A firewall of the account may refuse this address, too.", true],
    ["AuthorizationFailure", "This request is not authorized to perform this operation. The account's firewall blocks the address 192.0.2.1.", "The account's firewall blocks the address 192.0.2.1.", false],
    ["AuthorizationSourceIPMismatch", "", "The token is not valid from this address.", false],
    ["AuthenticationFailed", "", "The signature was refused: the key is wrong, the token has expired, or the clock of this machine is wrong.", false],
    ["AccountIsDisabled", "The specified account is disabled.", "The specified account is disabled.", false],
    ["", "", "The server answered 403.", false],
  ] as const) {
    const f = failure(403, JSON.stringify({ "odata.error": { code, message: { value: message } } }), "")
    assert.ok(f.message.includes(says) && f.forbids === forbids, `${code}: ${f.message} ${f.forbids}`)
    if (message.includes("firewall")) assert.doesNotMatch(f.message, /token/)
  }
})

test("work that was stopped during an attempt is not repeated", async () => {
  const busy = new Failure("busy", 503, "ServerBusy", 0)
  const abort = new AbortController()
  let attempts = 0
  const work = async () => {
    if (++attempts === 2) abort.abort(busy)
    throw busy
  }
  await assert.rejects(patiently(work, abort.signal, () => {}), busy)
  assert.equal(attempts, 2)
})
