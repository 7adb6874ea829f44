// Package safetensors reads and writes the safetensors container: a JSON header
// of names, element types, shapes and offsets, then the bytes of the tensors.
// It knows nothing of what the tensors are for and does not convert elements.
//
// # Format
//
// A file is an unsigned 64-bit little-endian header length, the header, and the
// data section. The header is one JSON object that maps a tensor's name to its
// "dtype", "shape" and "data_offsets", a half-open byte range of the data
// section; the name "__metadata__" is reserved for a map from strings to
// strings. The ranges cover the data section without gap or overlap. Elements
// are little-endian and in row-major order.
//
// # Reading
//
// [Parse] and [ReadHeader] take files from anywhere. A header over 100 MB, bytes
// that are not JSON of exactly this form, a name twice, a range that does not
// have the size its shape and type ask for, a gap, an overlap, trailing bytes
// and sizes that overflow 64 bits are errors. Sizes are checked before anything
// is allocated for them, and the time taken is that of sorting the names.
//
// # Writing
//
// [Write] makes the same bytes of the same tensors in any order. Programs map
// its files and use tensors where they lie, so that as many as the format allows
// start on a multiple of 64 bytes: the header is padded with spaces until the
// data section does, then come the tensors whose size is a multiple of 64 bytes,
// all of which therefore start on one, and after them the others from the
// widest element type to the narrowest, which start on a multiple of their
// element's size. Weights prepared for kernels come in blocks of 16 channels and
// are all of the first kind. No padding tensors are added: a reader sees the
// tensors that were written and no others.
package safetensors
