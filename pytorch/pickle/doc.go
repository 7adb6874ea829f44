// Package pickle reads Python's pickles, protocols 0 to 5, as data.
//
// It knows the opcodes and the containers in pickles. It does not know any Python name:
// [Reader.Global] resolves the names that a pickle mentions, and an unknown name is an error that
// ends the reading. The package does not import Python modules. It calls only functions that the
// caller provides: the functions of [Reader], [Class.New] and [Stateful]. No option changes this.
//
// # Limits
//
// Reading is not recursive. It takes time linear in the length of the pickle. Setting a key of a dict
// also takes time linear in the length of the key. Reading takes at most 24 MiB of memory, plus 12
// bytes for each byte of the pickle. A length in the pickle is checked against the remaining bytes
// before memory is allocated. Opcodes for objects outside the pickle (extensions, buffers) are
// errors.
package pickle
