package cpu

import "fmt"

// ReverseSequence reverses the first lens[n] steps of sequence n, and copies the other steps (ONNX
// ReverseSequence). src and dst are [batch, steps, inner] if batchFirst is true, and otherwise
// [steps, batch, inner]. They must not overlap. ReverseSequence returns an error unless each length
// is from 0 to steps.
func ReverseSequence[T any](dst, src []T, lens []int64, steps, batch, inner int, batchFirst bool) error {
	dst, src = trim(dst, volume(steps, batch, inner)), trim(src, volume(steps, batch, inner))
	step, sequence := batch*inner, inner
	if batchFirst {
		step, sequence = inner, steps*inner
	}
	for n, l := range trim(lens, batch) {
		if l < 0 || l > int64(steps) {
			return fmt.Errorf("sequence lengths: element %d is %d, 0 to %d expected", n, l, steps)
		}
		for t := range steps {
			from := t
			if t < int(l) {
				from = int(l) - 1 - t
			}
			copy(dst[n*sequence+t*step:][:inner], src[n*sequence+from*step:])
		}
	}
	return nil
}
