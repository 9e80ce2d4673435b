// Package repository keeps backups of a data directory in a backup location: a directory or a bucket of S3.
//
//	format                the kind of location, its version, and the name of the store
//	objects/SUM-RUN       a part of a file; SUM is the SHA-256 of the object, RUN the backup that wrote it
//	backups/ID            the manifest of a complete backup
//	names/ID              the name of the backup, kept so that a lost manifest is noticed
//	unfinished/ID         the incomplete manifest of a backup that is running, or was interrupted
//
// # Structure
//
// Package target manages the directory that a restore fills. Package encryption encrypts objects. Package seal verifies
// all objects that are not parts of files, by their first line. This package reads, writes and removes manifests and
// the log.
//
// # Steps
//
// [Repository.Create] checks that the store was not replaced. Then it
//
//  1. writes unfinished/ID,
//  2. reads the manifests, to find objects that it can reuse,
//  3. writes the objects that no backup has yet,
//  4. writes backups/ID, then names/ID,
//  5. deletes unfinished/ID.
//
// So a listed backup is complete, and a backup with a name has a manifest. If a run is interrupted, the next run of the
// same data directory reuses its objects.
//
// [Repository.Prune]
//
//  1. deletes the name and then the manifest of each backup to remove,
//  2. lists all objects,
//  3. stops if a backup is unfinished,
//  4. reads all manifests,
//  5. deletes the listed objects that no manifest names.
//
// This order needs no clock and no lock. Prune never deletes an object that a run uses:
//
//   - If the run wrote the object, unfinished/ID existed before the object. Prune finds unfinished/ID in step 3, or the
//     run has ended and Prune finds its manifest in step 4.
//   - If the run reuses the object, it read a manifest that names the object after it wrote unfinished/ID. So
//     unfinished/ID existed before Prune deleted that manifest, and Prune finds the run in step 3 or 4.
//
// Objects of two runs have different names even if their contents are equal. So Prune cannot delete an object that a
// new run has just written again.
//
// The backup location must show an object to every reader as soon as the object is written. Directories and S3 do
// this.
package repository
