// Package awssecrets reads a text from AWS Secrets Manager or from the Parameter
// Store of Systems Manager.
//
// Each is one signed POST with a JSON body, so that the two SDK clients, which
// add megabytes to a binary and time to its start for this one call, are not
// needed: the signature is the SDK's, the rest is here. A [Cache] keeps the
// parsed text and reads it again within minutes.
package awssecrets
