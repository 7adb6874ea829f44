// Package parquet reads Parquet files as data sets. A row is an item. To read a row, its whole row
// group is decoded. The group is kept while it is in use, and a loader shuffles group by group; see
// [Open].
//
// Files may come from anyone: no damaged file makes the package panic.
package parquet
