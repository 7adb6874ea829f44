// Package pickle reads Python's pickles, protocols 0 to 5, as data.
//
// It knows the opcodes and the containers that pickles are made of. It does not
// know a single name of Python's: what a pickle calls is looked up with
// [Reader.Global], and a name that this does not know is an error that ends the
// reading. Nothing is imported, and nothing is called but the functions in
// [Class.New] that the caller wrote. There is no mode in which this is
// different.
//
// # Limits
//
// A pickle is read with work linear in its length, without recursion, however
// deep it nests, and with memory of at most 24 MiB and 12 bytes for each byte of
// the pickle. A length that a pickle states is checked against what is left of
// it before anything is allocated. Opcodes for objects outside the pickle
// (extensions, buffers) are errors.
package pickle
