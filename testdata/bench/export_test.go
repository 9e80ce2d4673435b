package main

// Dispatch lets the tests run the command line.
var Dispatch = dispatch
