package cpu

// ByteTable computes dst[i] = table[x[i]]. table has 256 elements; the bits of x[i], as an unsigned
// number, are the index.
func ByteTable[T any, S Byte](dst []T, x []S, table []T) {
	x = trim(x, len(dst))
	t := (*[256]T)(table)
	for i, v := range x {
		dst[i] = t[uint8(v)]
	}
}
