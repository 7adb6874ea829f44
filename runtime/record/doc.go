// Package record saves weights and states in several formats, and reads records of burngen and of
// burn.
//
// A [Recorder] has a [Format], compression and a [Precision]. It writes the weights of a model, or
// the state of any [rt.Stater]: trainers, optimizers, parameters, and with [Value] any variable
// that encodes as JSON.
//
//	err := record.SaveState("run.mpk.gz", map[string]rt.Stater{
//		"model": trainer, "optimizer": adam, "progress": record.Value(&progress),
//	})
//	...
//	err = record.LoadState("run.mpk.gz", map[string]rt.Stater{ ... })
//
// These are the counterparts of burn's recorders:
//
//	NamedMpkFileRecorder     Recorder{Format: MessagePack}
//	NamedMpkGzFileRecorder   Recorder{Format: MessagePack, Gzip: true}
//	BinFileRecorder          Recorder{Format: Binary}
//	BinGzFileRecorder        Recorder{Format: Binary, Gzip: true}
//	JsonGzFileRecorder       Recorder{Format: JSON, Gzip: true}
//	PrettyJsonFileRecorder   Recorder{Format: PrettyJSON}
//	BinBytesRecorder         Recorder{Format: Binary}, Encode and Parse
//	CompactRecorder          Recorder{Format: MessagePack, Precision: Half}
//
// The layouts are burngen's own, see layout.go and binary.go: burn does not read them.
//
// # Errors
//
// A file records the version of its layout and the SHA-256 of names, types, shapes, elements and
// metadata. Reading checks both before it uses anything. If a file is truncated or modified,
// reading returns an error and loads nothing. An existing file is replaced only when the new one
// is complete. Sizes are checked before memory is allocated for them, and no other file is read.
//
// # Precision
//
// A record in another precision stores floats and integers in other widths. Reading restores the
// original types, with values rounded to that precision.
//
// # Files of burn
//
// [Open] reads files of burn's recorders up to version 0.21 (.mpk, .json and .bin, optionally with
// .gz) and burnpack files (.bpk). Names are the paths of the parameters, joined by dots: fields of
// modules, indices in vectors, names of variants. A .bin file has no names, so its tensors are
// numbered; see [InOrder]. Only files compressed with gzip have a checksum. Sizes must match
// shapes and types. Values that are not tensors are ignored, and quantised tensors are rejected.
// Linear layers of burn are transposed relative to PyTorch, and norms have gamma and beta. Package
// keys converts both.
//
// The package knows files and their contents, but not models or optimizers.
package record
