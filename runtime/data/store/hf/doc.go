// Package hf reads the folder of a Hugging Face data set: a repository that was cloned or downloaded,
// or the folder that the hub's clients keep of it in their cache. See [Open]. It does not use the
// network, and needs no Python.
//
// Files may come from anyone. Links are followed inside the folder only, and inside the folder of the
// repository in a cache.
package hf
