// Package pytorch reads the weights in files that PyTorch saved: .pt, .pth and .bin in the zip,
// legacy and tar formats, and TorchScript archives.
//
// It knows the containers, the layout of tensors in their storages, and the Python names that
// pickles may mention. It does not know what the tensors are for. It does not read the code in a
// TorchScript archive. Nothing in a file is executed. Package
// [github.com/burngen/burngen/pytorch/pickle] reads the pickle, and globals.go has the list of
// allowed names. Any other name is an error, unless it is the class of a tensor, which is ignored.
// No option changes that.
//
// # Names
//
// The name of a tensor is its path, joined by dots: keys of dicts, indices of lists, attributes of
// modules. A checkpoint with the model under "state_dict" has tensors "state_dict.conv1.weight".
// [TopKey] removes the prefix, [Remap] rewrites names, [Renumber] closes gaps in indices. Values
// that are not tensors are ignored; see [Config].
//
// # Memory
//
// The file is mapped. Contiguous tensors are used in place; most tensors are contiguous. Strided
// tensors, deflated records and big-endian data are converted on first use. Opening a file reads
// its directory and its pickle, and verifies the checksums of up to 64 MiB of records. The
// checksums of the other records are verified when a tensor in them is first used.
//
// # Rejected files
//
// Some tensors cannot be held: quantised, sparse and meta tensors, and tensors of a type that
// burngen does not have. Such a tensor is listed as u8[0], and its use is an error; other tensors
// of the file are not affected. A file is rejected as a whole if a view exceeds its storage, if the
// file is damaged, or if it is ambiguous, such as an archive with two records of one name.
package pytorch
