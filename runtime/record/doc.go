// Package record saves weights and states, and reads what burngen or burn saved.
//
// A [Recorder] says how: in a [Format], compressed or not, in a [Precision]. It writes the
// weights of a model, or the state of anything that is an [rt.Stater]: trainers,
// optimizers, parameters, and with [Value] any variable that has a form in JSON.
//
//	err := record.SaveState("run.mpk.gz", map[string]rt.Stater{
//		"model": trainer, "optimizer": adam, "progress": record.Value(&progress),
//	})
//	...
//	err = record.LoadState("run.mpk.gz", map[string]rt.Stater{ ... })
//
// What burn calls its recorders are these:
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
// # What can go wrong
//
// A file holds the SHA-256 of names, types, shapes, elements and metadata, which is
// compared before anything is used, and the version of its layout. A file that is cut off
// or changed is an error, and nothing has been loaded then. Saving replaces a file when
// the new one is whole. Sizes are checked before memory is taken for them, and nothing is
// read but the file that is named.
//
// # Precision
//
// A record in another precision has floats and integers of other widths; what is read has
// the types that were saved, rounded to that precision.
//
// # Files of burn
//
// [Open] reads what burn's recorders wrote up to version 0.21 (.mpk, .json and .bin, with
// .gz after them or not) and burnpack files (.bpk). Names are the ways to the parameters,
// joined by dots: fields of modules, numbers in vectors, names of variants. A .bin file
// has no names: its tensors are numbered, see [InOrder]. There is no checksum but gzip's;
// sizes have to fit shapes and types. Left out is what is no tensor. Refused are quantised
// tensors. A Linear layer of burn has its weights the other way round from PyTorch's, and
// norms have gamma and beta: package keys knows how to adapt both.
//
// The package knows files and what they hold. It does not know models or optimizers.
package record
