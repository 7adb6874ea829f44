// Package parquet reads Parquet files as data sets. A row is an item. A row group is decoded as a
// whole, once while it is in use, and a loader shuffles such groups; see [Open].
//
// Files may come from anyone: no damaged file makes the package panic.
package parquet
