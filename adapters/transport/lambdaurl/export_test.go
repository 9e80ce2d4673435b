package lambdaurl

// CutBody exports cutBody for tests.
var CutBody = cutBody
