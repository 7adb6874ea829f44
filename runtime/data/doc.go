// Package data feeds training loops. It reads MNIST files, tables of comma-separated values and
// text, splits examples, and yields them in shuffled batches. Examples are slices of Go values with
// one element for each example, as generated packages take them. Randomness comes from a generator
// that the caller seeds.
//
// No file makes a reader panic or allocate much more than the file contains. The package knows
// files and slices, but not models and training.
package data
