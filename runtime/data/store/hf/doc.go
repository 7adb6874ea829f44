// Package hf reads the folder of a Hugging Face data set: a cloned or downloaded repository, or the
// repository's folder in the cache of the hub's clients. See [Open]. It does not use the network,
// and needs no Python.
//
// Files may come from anyone. A symbolic link is followed only if its target is inside the folder
// or, for a data set in a cache, inside the cached repository.
package hf
