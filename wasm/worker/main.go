// Command worker is edgetable as a WebAssembly module for Cloudflare Workers. TinyGo compiles it, and the JavaScript
// shell worker.mjs calls it:
//
//	fetch → worker.mjs → serve → core/protocol → core/table → adapters/store/durableobject ┐
//	                                      answers ← worker.mjs ← RPC ← calls ────────┘
//	RPC   → worker.mjs → object → adapters/store/durableobject/engine → rows in SQLite
//
// If a namespace of Workers KV is bound to the name EDGETABLE_REPLICA, it contains a replica. Durable Objects publish
// their changes to the replica, which answers reads at the secondary endpoint. These answers may be old:
//
//	alarm → object → batch ┐
//	       worker.mjs → publish → adapters/store/workerskv → kv
//
// The module has no goroutines, because they would increase its size by a third and halve its speed. A call to Durable
// Objects suspends the whole instance, so an instance serves one request at a time, and the shell keeps several
// instances. The code of an object never waits, so one instance serves all objects of an isolate.
//
// # The interface of module and shell
//
// Bytes pass through one buffer in the memory of the module. A parameter n is the number of bytes in the buffer or, if
// a pointer precedes n, at that pointer. A result n is the length of the answer in the buffer. The module exports
//
//	buffer(n) pointer      the buffer, with room for n bytes; each call may move it
//	configure(n) n         variables in the buffer → 0, or the length of an error in the buffer
//	serve(n) n             a request → address and length of the response's body, in four bytes each, then the head
//	hold()                 allocates the memory for the largest messages to objects
//	object(number, n, all) n  a message of n bytes to the current object, and the answers to its calls → what the shell must do
//	known(n) n             a request to the isolate's cache → the answer
//	limit(which, n, tokens) f64  takes tokens of the key in the buffer → milliseconds to wait, or 0. With 0 tokens,
//	                       it takes none; negative tokens are taken for work that was already done
//	publish(n) n           a batch of an object for the replica → its result
//
// and it imports from "edge"
//
//	now() f64              milliseconds since 1970
//	random() i64           random bits
//	call(calls, n, ms, writes) n  calls objects, all at once → answers in the buffer; suspends the instance
//	kv(pointer, n) n       a call of Workers KV → its result in the buffer; suspends the instance
//	log(level, pointer, n) writes a line of JSON: level 0 is info, 1 is error
//	known(pointer, n) n    calls known of the instance with the isolate's cache → the answer in the buffer
//	limit(which, key, n, tokens) f64  calls limit of the instance that counts for the isolate
//	row_get(key, n) n      → the row's value in the buffer, or -1
//	row_put(key, n, value, n), row_delete(key, n), row_delete_all(), row_drop_day(day)
//	row_size() f64         size of all rows in bytes
//	row_scan(range, n) n   → whole rows in the buffer
//
// Numbers are little-endian and have four bytes unless noted. The code that reads and
// writes a message describes its form.
package main

func main() {}
