package cpu

// LinearAttention computes linear attention with a state (ONNX LinearAttention). The state is a
// matrix [depth, width] for each batch element and each of `shared` heads of keys and values. past
// is the initial state. At each step:
//
//   - Row i of the state is multiplied by keep[i], unless `keep` is nil.
//   - If rate is not nil, value is replaced by rate·(value − key·state), with this new state.
//   - The outer product of key and value is added to the state.
//   - The result for a query is query·state.
//
// The shapes are:
//
//	dst         [batch, steps, heads, width]
//	q           [batch, steps, heads, depth]
//	k, keep     [batch, steps, shared, depth]
//	v           [batch, steps, shared, width]
//	rate        [batch, steps, shared]
//	state, past [batch, shared, depth, width]
//
// Query head h uses the state of head h·shared/heads; shared divides heads. past and state may be
// the same slice. dst must not overlap anything.
func LinearAttention[T Float](dst, state, q, k, v, past, keep, rate []T, batch, steps, heads, shared, depth, width int) {
	dst, state = trim(dst, volume(batch, steps, heads, width)), trim(state, volume(batch, shared, depth, width))
	copy(state, trim(past, len(state)))
	if shared == 0 || len(dst) == 0 && len(state) == 0 {
		return
	}
	each := heads / shared
	for unit := range batch * shared {
		s := state[unit*depth*width:][:depth*width]
		for step := range steps {
			at := (unit/shared*steps+step)*shared + unit%shared // among keys and values
			key, value := k[at*depth:][:depth], v[at*width:][:width]
			if keep != nil {
				for d, by := range keep[at*depth:][:depth] {
					row := s[d*width:][:width]
					for e := range row {
						row[e] *= by
					}
				}
			}
			out := dst[at*each*width:][:each*width]
			if rate != nil {
				change := out[:width] // the result's place is free until its state is known
				rowTimes(change, key, s)
				for e, have := range change {
					change[e] = rate[at] * (value[e] - have)
				}
				value = change
			}
			for d, by := range key {
				addScaled(s[d*width:][:width], value, by)
			}
			for h := range each {
				rowTimes(out[h*width:][:width], q[(at*each+h)*depth:][:depth], s)
			}
		}
	}
}

// rowTimes multiplies a row by a matrix, [len(row), len(dst)], and writes the product to dst.
func rowTimes[T Float](dst, row, matrix []T) {
	clear(dst)
	for d, by := range row {
		addScaled(dst, matrix[d*len(dst):], by)
	}
}

func addScaled[T Float](dst, src []T, factor T) {
	src = src[:len(dst)]
	for i := range dst {
		dst[i] += T(factor * src[i])
	}
}
