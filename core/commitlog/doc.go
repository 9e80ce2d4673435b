// Package commitlog defines the interface between a store and the code that replicates the store's log of commits.
//
// A store numbers its commits. The numbers increase, and each number is a time in ticks. One history of commits is a
// [Timeline]. Each run of a server that ships the log of a timeline is a [Term]. A [Position] is the progress of a
// store that applies the log of another store.
package commitlog
