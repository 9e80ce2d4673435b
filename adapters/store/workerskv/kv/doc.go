// Package kv implements the namespace of package workerskv with a binding of Workers
// KV. It is built only for js/wasm, by TinyGo with its goroutines: a call waits for a
// promise, while other goroutines run.
//
// It finds the binding by package github.com/syumai/workers/cloudflare/kv: the shell
// sets globalThis.context = {env, ctx, binding} before it makes the instance. The
// calls are made here, because that package knows no metadata, does not tell an empty
// value from a missing one, and keeps a function alive for each promise that resolves.
// In context.binding the shell provides
//
//	await(promise, number)  calls settled(number, 1) of the module when it resolves, settled(number, 0) when it rejects
//	outcome(number)         the result of the promise
package kv
