package cpu

// ByteTable computes dst[i] = table[x[i]]. The bits of x[i] are the index into the 256 elements of
// table.
func ByteTable[T any, S Byte](dst []T, x []S, table []T) {
	x = trim(x, len(dst))
	t := (*[256]T)(table)
	for i, v := range x {
		dst[i] = t[uint8(v)]
	}
}
