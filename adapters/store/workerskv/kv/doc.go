// Package kv is the binding of Workers KV in a module of WebAssembly, as package
// workerskv wants it. It is built only for js/wasm, by TinyGo with its scheduler
// of goroutines: a call waits for a promise, and others run meanwhile.
//
// It finds the binding as package github.com/syumai/workers does: the shell sets
// globalThis.context = {env, ctx, binding} before it makes the instance. That
// package knows neither metadata nor the difference between an empty value and
// none, reads bytes through a stream, and holds on to two functions for each
// promise: so the binding is called here. In context.binding the shell has functions
// that wait:
//
//	await(promise, number)  calls settled(number, 1) of the module when it was kept, or settled(number, 0)
//	pause(ms, number)       calls settled(number, 1) after a time
//	outcome(number)         what the promise came to
package kv
