// Package ship copies the log of a store to a backup location, while the store is the primary there.
//
// [Shipper.Serve] is the loop: it checks the state of the location, packs the commits of each interval into a piece of
// the log, and stores the piece. Whether the store may ship its log, and after which commit it begins, depends on the
// state of the store and of the location. The tables cases and starts list all possible states.
//
// A store ships its log only while it is the primary. [Lead] records whether another store has replaced it. [TakeOver]
// makes a replaced store the primary again.
package ship
