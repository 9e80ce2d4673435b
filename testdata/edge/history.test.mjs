// Tests of the shell's requests for earlier states of an object.
import assert from "node:assert/strict";
import { test } from "node:test";
import { answered, failed } from "../../wasm/worker/calls.mjs";
import { recall } from "../../wasm/worker/history.mjs";

const at = Date.UTC(2026, 10, 23, 14, 3, 7), encoder = new TextEncoder(), decoder = new TextDecoder();

// platform returns the part of the platform that an object sees. An aborted object runs no further.
function platform(broken = {}) {
  const asked = [];
  const ask = (name, answer) => async (what) => {
    asked.push(`${name} ${what}`);
    if (broken[name]) throw new Error(broken[name]);
    return answer;
  };
  const storage = { getCurrentBookmark: ask("now", "0005-0006"), getBookmarkForTime: ask("find", "0001-0002"), onNextSessionRestoreBookmark: ask("set", "0003-0004") };
  const blockConcurrencyWhile = async (work) => {
    asked.push("alone");
    return work();
  };
  return { asked, storage, blockConcurrencyWhile, abort: () => { asked.push("abort"); throw new Error("aborted"); } };
}

// message returns bytes after other bytes, like a part of a larger message.
function message(bookmark) {
  const bytes = Uint8Array.of(1, 2, 3, ...new Uint8Array(8), ...encoder.encode(bookmark));
  new DataView(bytes.buffer).setFloat64(3, at, true);
  return bytes.subarray(3);
}

const text = (answer) => [answer[0], decoder.decode(answer.subarray(1))];

test("a state has a name", async () => {
  const p = platform();
  assert.deepEqual(text(await recall(p, message(""))), [answered, "0001-0002"]);
  assert.deepEqual(p.asked, [`find ${at}`]);
});

test("the state of now has a name", async () => {
  const p = platform();
  assert.deepEqual(text(await recall(p, message("").subarray(0, 0))), [answered, "0005-0006"]);
  assert.deepEqual(p.asked.map((what) => what.split(" ")[0]), ["now"]);
});

test("the object ends alone, when the platform knows where it goes back to", async () => {
  const p = platform();
  await assert.rejects(recall(p, message("0001-0002")), /aborted/);
  assert.deepEqual(p.asked, ["alone", "set 0001-0002", "abort"]);
});

test("an object that does not go back does not end, and says why", async () => {
  for (const [name, bookmark] of [["find", ""], ["set", "0001-0002"]]) {
    const p = platform({ [name]: "no history" });
    assert.deepEqual(text(await recall(p, message(bookmark))), [failed, "no history"]);
    assert.equal(p.asked.includes("abort"), false);
  }
  assert.deepEqual(text(await recall(platform({ now: "no history" }), new Uint8Array(0))), [failed, "no history"]);
});
