package main

// Dispatch exports dispatch for tests.
var Dispatch = dispatch
