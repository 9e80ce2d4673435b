package storetest

// Homes exports homes for tests.
var Homes = homes
