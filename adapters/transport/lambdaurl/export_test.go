package lambdaurl

// CutBody is for tests.
var CutBody = cutBody
