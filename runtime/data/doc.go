// Package data feeds training loops. A [Dataset] is a list of items: the rows of a table, pictures
// in memory, records of a file. Functions such as [Map], [Shuffled] and [Parts] make data sets of
// data sets, and a [Loader] makes batches of the items, as generated packages take them.
//
// The items of a batch depend on the seed, the number of the epoch and the number of the batch only.
// They do not depend on the number of workers, and training can resume at any batch without reading
// the batches before it.
//
// No file makes a reader panic or allocate much more than the file contains. The package knows
// files and items, but not models and training.
package data
