// Package pytorch reads the weights in files that PyTorch saved: .pt, .pth and
// .bin in the zip, legacy and tar forms, and TorchScript archives.
//
// It knows the containers, how tensors lie in their storages, and which names of
// Python's their pickles may mention. It does not know what the tensors are for,
// and does not read a TorchScript archive's code. Nothing in a file is run: its
// pickle is read by package [github.com/burngen/burngen/pytorch/pickle] with the
// list of names in globals.go, and a name that is not there is an error. No option
// changes that.
//
// # Names
//
// A tensor is named by the way to it, joined by dots: keys of dicts, indices of
// lists, attributes of modules. A checkpoint with the model under "state_dict" has
// tensors "state_dict.conv1.weight"; [TopKey] takes that away, [Remap] rewrites
// names, [Renumber] closes gaps in indices. What is no tensor is left out; see
// [Config].
//
// # Memory
//
// A file is mapped. Tensors that lie in it as they do in memory (most do) are used
// in place; those with strides, in deflated records or in the other byte order are
// put together when they are first used. Opening a file reads its directory and its
// pickle, and compares the checksums of records of 64 MiB together; those of the
// rest are compared when a tensor in them is first used.
//
// # Refused
//
// A quantised, sparse or meta tensor, or one of a type that burngen lacks, refuses only
// itself: it is listed as u8[0], and its use is an error. A file is refused if a view is
// outside its storage, if it is damaged, or if it says two things at once, such as an
// archive with two records of one name.
package pytorch
