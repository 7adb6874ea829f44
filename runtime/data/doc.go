// Package data feeds training loops. A [Dataset] is a list of items: the rows of a table, pictures
// in memory, records of a file. Functions such as [Map], [Shuffled] and [Parts] make data sets from
// other data sets. A [Loader] makes batches of the items, in the form that generated packages take.
//
// The items of a batch depend only on the seed, the number of the epoch and the number of the batch.
// They do not depend on the number of workers. Training can therefore resume at any batch without
// reading the batches before it.
//
// No file makes a reader panic, or allocate much more than the file contains. The package knows
// files and items, but not models and training.
package data
