// Package sqlite reads and writes tables of SQLite files as data sets. A row is an item. [Open] reads
// tables with a column for each field, and tables of serialized items, as Burn writes them.
//
// SQLite runs in the process, without cgo. Files may come from anyone: the package reads tables only,
// not views or virtual tables, and no damaged file makes it panic.
package sqlite
