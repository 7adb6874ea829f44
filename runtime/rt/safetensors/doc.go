// Package safetensors reads and writes the safetensors container: a JSON header of names, element
// types, shapes and offsets, followed by the bytes of the tensors. It does not interpret or convert
// tensors.
//
// # Format
//
// A file is the length of the header as an unsigned 64-bit little-endian integer, the header, and
// the data section. The header is one JSON object that maps a tensor's name to its "dtype", "shape"
// and "data_offsets", a half-open byte range of the data section. The name "__metadata__" is
// reserved for a map from strings to strings. The ranges cover the data section without gap or
// overlap. Elements are little-endian and in row-major order.
//
// # Reading
//
// [Parse] and [ReadHeader] accept untrusted files. They return an error if the header exceeds 100
// MB or is not JSON of exactly this form, if a name occurs twice, if the size of a range does not
// match shape and type, or if a size overflows 64 bits. Gaps and overlaps between ranges, and bytes
// after the last range, are errors too. Sizes are checked before memory is allocated for them. The
// running time is O(n log n) for a header of n bytes, because names are sorted.
//
// # Writing
//
// [Write] produces the same bytes for the same tensors in any order. Programs map its files and use
// tensors in place, so tensors must be aligned. Their order makes this possible without padding
// between them. The header is padded with spaces to a multiple of 64 bytes. Then come the tensors
// whose size is a multiple of 64 bytes; each starts at such a multiple too. The others follow, the
// widest element type first, each aligned to its element size. Packed weights consist of blocks of
// 16 channels, so their sizes are multiples of 64 bytes.
package safetensors
