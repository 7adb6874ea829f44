// Package ops has the custom operators of the tests' models.
package ops

import (
	"errors"

	"github.com/burngen/burngen/runtime/rt"
)

// FusedMatMulAddReLU is max(x·w + b, 0), (f32[N,K], f32[K,M], f32[M]) -> f32[N,M], times
// the attribute "times".
func FusedMatMulAddReLU(c *rt.Call) error {
	x, w, b := rt.Data[float32](c.In[0]), rt.Data[float32](c.In[1]), rt.Data[float32](c.In[2])
	y, times := rt.Data[float32](c.Out[0]), c.Attrs.Float("times", 1)
	n, k, m := c.In[0].Dim(0), c.In[0].Dim(1), c.In[1].Dim(1)
	for i := range n {
		for j := range m {
			sum := b[j]
			for l := range k {
				sum += x[i*k+l] * w[l*m+j]
			}
			y[i*m+j] = times * max(sum, 0)
		}
	}
	return nil
}

// FusedMatMulAddReLUGrad computes the gradients of x, w and b. Where the result is positive, the
// gradient of x·w + b is dy times the attribute "times"; elsewhere it is 0.
func FusedMatMulAddReLUGrad(c *rt.Call) error {
	x, w, y, of := rt.Data[float32](c.In[0]), rt.Data[float32](c.In[1]), rt.Data[float32](c.In[3]), rt.Data[float32](c.In[4])
	dx, dw, db := rt.Data[float32](c.Out[0]), rt.Data[float32](c.Out[1]), rt.Data[float32](c.Out[2])
	n, k, m, times := c.In[0].Dim(0), c.In[0].Dim(1), c.In[1].Dim(1), c.Attrs.Float("times", 1)
	clear(dx)
	clear(dw)
	clear(db)
	for i := range n {
		for j := range m {
			if y[i*m+j] <= 0 {
				continue
			}
			g := times * of[i*m+j]
			db[j] += g
			for l := range k {
				dx[i*k+l] += g * w[l*m+j]
				dw[l*m+j] += g * x[i*k+l]
			}
		}
	}
	return nil
}

// Keep returns the rows of x whose first element is positive, and their indices: (f32[N,C]) ->
// (i64[K], f32[K,C]).
func Keep(c *rt.Call) error {
	x, columns := rt.Data[float32](c.In[0]), c.In[0].Dim(1)
	n := 0
	for i := 0; i < len(x); i += columns {
		if x[i] > 0 {
			n++
		}
	}
	c.Out[0].Resize(n)
	c.Out[1].Resize(n, columns)
	at, rows := rt.Data[int64](c.Out[0]), rt.Data[float32](c.Out[1])
	k := 0
	for i := 0; i < len(x); i += columns {
		if x[i] > 0 {
			at[k] = int64(i / columns)
			copy(rows[k*columns:], x[i:i+columns])
			k++
		}
	}
	return nil
}

// ErrMany is the error of Double for an element above 99.
var ErrMany = errors.New("too many")

// Double is 2·x, (f32[N,C]) -> f32[N,C]. It panics if it meets an element above 1e6, and returns ErrMany
// if it meets one above 99.
func Double(c *rt.Call) error {
	x, y := rt.Data[float32](c.In[0]), rt.Data[float32](c.Out[0])
	for i, v := range x {
		switch {
		case v > 1e6:
			panic("too large")
		case v > 99:
			return ErrMany
		}
		y[i] = 2 * v
	}
	return nil
}

// Mistaken reads its operand as a type that the operand does not have.
func Mistaken(c *rt.Call) error {
	for i, v := range rt.Data[float64](c.In[0]) {
		rt.Data[float64](c.Out[0])[i] = v
	}
	return nil
}
