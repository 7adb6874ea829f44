package cpu

// ByteTable computes dst[i] = table[x[i]], the element's bits being the index of one
// of 256.
func ByteTable[T any, S Byte](dst []T, x []S, table []T) {
	x = trim(x, len(dst))
	t := (*[256]T)(table)
	for len(x) >= 8 && len(dst) >= 8 {
		from, to := (*[8]S)(x), (*[8]T)(dst)
		for i := range 8 {
			to[i] = t[uint8(from[i])]
		}
		x, dst = x[8:], dst[8:]
	}
	for i, v := range x {
		dst[i] = t[uint8(v)]
	}
}
