// Package batch computes the items of files with a model, and writes the results to files of the same kind. It is the
// program that burngen beam builds.
//
// The work is divided into shards. A shard is a range of the items of one input file, and has output files of its
// own. A shard is computed in one piece, in batches that depend on the shard only. So the bytes of its files do not
// depend on the runner, or on how often the run was interrupted. The files get their names when the shard is whole;
// a run that goes on computes the other shards.
//
// No input file makes the program panic, or allocate much more than a batch of its items.
package batch
