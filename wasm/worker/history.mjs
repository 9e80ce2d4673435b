// The earlier states that the platform keeps of an object, in the forms of engine/restore.go.
import { answered, failed, lost } from "./calls.mjs";

const encoder = new TextEncoder(), decoder = new TextDecoder();

// recall answers what the platform calls the state of now, or with a time the state at that time. With such a name behind the
// time, it ends the object, which wakes up in that state: the message that asked for it gets no answer. No other message comes
// in between: the end of the table would be undone.
export async function recall(ctx, message) {
  const refused = (e) => Uint8Array.of(failed, ...encoder.encode(String(e?.message ?? e).replaceAll("\n", " ")));
  const at = message.length && new DataView(message.buffer, message.byteOffset).getFloat64(0, true), bookmark = decoder.decode(message.subarray(8));
  if (bookmark === "") {
    try {
      return Uint8Array.of(answered, ...encoder.encode(await (at ? ctx.storage.getBookmarkForTime(at) : ctx.storage.getCurrentBookmark())));
    } catch (e) {
      return refused(e);
    }
  }
  return ctx.blockConcurrencyWhile(async () => {
    try {
      await ctx.storage.onNextSessionRestoreBookmark(bookmark);
    } catch (e) {
      return refused(e);
    }
    ctx.abort("back to an earlier state");
    return Uint8Array.of(lost);
  });
}
