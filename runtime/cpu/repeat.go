package cpu

// Repeat fills dst with copies of src. The last copy may be truncated. An empty src leaves dst
// unchanged.
func Repeat[T any](dst, src []T) {
	if len(src) == 0 {
		return
	}
	for n := copy(dst, src); n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// Elements sets dst[i] to v[i]. It is for small tensors, such as a list of extents.
func Elements[T Integer](dst []T, v ...int) {
	for i, x := range v {
		dst[i] = T(x)
	}
}

// Concat puts matrices side by side (ONNX Concat). parts[i] is a matrix of `outer` rows with
// widths[i] elements. Row j of dst consists of row j of each part, in order.
func Concat[T any](dst []T, outer int, widths []int, parts ...[]T) {
	at := 0
	for row := range outer {
		for i, part := range parts {
			w := widths[i]
			copy(dst[at:at+w], part[row*w:(row+1)*w])
			at += w
		}
	}
}
