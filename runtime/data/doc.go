// Package data feeds training loops: it reads MNIST's files, tables of comma-separated
// values and text, splits examples and yields them in shuffled batches. Examples are
// slices of Go values, one element to an example, as the functions of generated packages
// take them; what is random comes from a generator that the caller seeds.
//
// Nothing in a file makes a reader panic or allocate much more than the file holds. The
// package knows files and slices; it does not know models and training.
package data
