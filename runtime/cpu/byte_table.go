package cpu

// ByteTable computes dst[i] = table[x[i]], the element's bits being the index of one
// of 256.
func ByteTable[T any, S Byte](dst []T, x []S, table []T) {
	x = trim(x, len(dst))
	t := (*[256]T)(table)
	for i, v := range x {
		dst[i] = t[uint8(v)]
	}
}
