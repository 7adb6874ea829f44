package cpu

// Pad pads each axis i with `value`: before[i] elements before the axis and after[i] elements after
// it (ONNX Pad, mode constant). src has the extents shape[i], and dst the extents
// before[i]+shape[i]+after[i]. The three lists have the same length, which is 0 for a scalar.
func Pad[T any](dst, src []T, shape, before, after []int, value T) {
	n := len(shape)
	for n > 0 && before[n-1] == 0 && after[n-1] == 0 {
		n--
	}
	to := volume(shape[n:]...)
	from := to
	for i, d := range shape[:n] {
		to, from = volume(to, extent(before[i], d, after[i])), volume(from, d)
	}
	pad(trim(dst, to), trim(src, from), shape[:n], before, after, value)
}

// extent returns the extent of a padded axis. If an argument is negative or the sum is too large,
// it returns the largest result of [volume], a length that no slice has.
func extent(before, d, after int) int {
	n, most := volume(before), volume(-1)
	n += min(volume(d), most-n)
	return n + min(volume(after), most-n)
}

// pad is [Pad] without its checks. `shape`, `before` and `after` do not have the last axes if these
// are not padded.
func pad[T any](dst, src []T, shape, before, after []int, value T) {
	if len(dst) == 0 || len(shape) == 0 {
		copy(dst, src)
		return
	}
	run := len(dst) / (before[0] + shape[0] + after[0])
	head, tail := before[0]*run, (before[0]+shape[0])*run
	Fill(dst[:head], value)
	Fill(dst[tail:], value)
	if dst = dst[head:tail]; len(shape) == 1 {
		copy(dst, src)
		return
	}
	part := len(src) / max(shape[0], 1)
	if len(shape) == 2 {
		head := before[1] * (run / max(before[1]+shape[1]+after[1], 1))
		for i := range shape[0] {
			row := dst[i*run:][:run]
			for k := range row[:head] {
				row[k] = value
			}
			copy(row[head:], src[i*part:][:part])
			for k := head + part; k < run; k++ {
				row[k] = value
			}
		}
		return
	}
	for i := range shape[0] {
		pad(dst[i*run:][:run], src[i*part:][:part], shape[1:], before[1:], after[1:], value)
	}
}
