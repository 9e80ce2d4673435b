import test from "node:test"
import assert from "node:assert/strict"

test("WebCrypto is here", () => assert.ok(crypto.subtle))
