package cpu

// OneHot inserts an axis of extent depth (ONNX OneHot). idx is [outer, inner], and dst is [outer,
// depth, inner]. dst[o, d, i] is values[1] if d is idx[o, i], and values[0] otherwise. A negative
// index counts from the end. An index out of range sets no element to values[1].
func OneHot[T any, I int32 | int64](dst []T, idx []I, values []T, outer, depth, inner int) {
	dst, idx, values = trim(dst, volume(outer, depth, inner)), trim(idx, volume(outer, inner)), trim(values, 2)
	Fill(dst, values[0])
	for o := range outer {
		for i, k := range idx[o*inner:][:inner] {
			if at, ok := fromFront(k, depth); ok {
				dst[(o*depth+at)*inner+i] = values[1]
			}
		}
	}
}
