// Package ship copies the log of a primary to a backup location.
//
// [Shipper.Serve] is the loop: it packs the commits of each interval into a piece of the log, and stores the piece. The
// tables cases and starts say when a store may ship its log, and after which commit it begins.
//
// [PrimaryStatus] records whether another store has replaced this store as the primary. [TakeOver] makes a replaced
// store the primary again.
package ship
