// Package hf reads the folder of a Hugging Face data set: a repository that was cloned or
// downloaded, or the folder that the hub's clients keep of it in their cache. See [Open]. It does
// not use the network, and needs no Python.
//
// Files may come from anyone. A symbolic link is followed only if its target is inside the folder
// or, for a data set in a cache, inside the cached repository.
package hf
