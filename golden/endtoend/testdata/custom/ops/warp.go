package ops

import "github.com/burngen/burngen/runtime/rt"

// Warp is x²·w times the attribute "by", (f32[N,C], f32[C]) -> f32[N,C].
func Warp(c *rt.Call) error {
	x, w, y := rt.Data[float32](c.In[0]), rt.Data[float32](c.In[1]), rt.Data[float32](c.Out[0])
	for i, v := range x {
		y[i] = c.Attrs.Float("by", 1) * v * v * w[i%len(w)]
	}
	return nil
}

// WarpGrad computes the gradients of x and w.
func WarpGrad(c *rt.Call) error {
	x, w, dy := rt.Data[float32](c.In[0]), rt.Data[float32](c.In[1]), rt.Data[float32](c.In[3])
	dx, dw, by := rt.Data[float32](c.Out[0]), rt.Data[float32](c.Out[1]), c.Attrs.Float("by", 1)
	clear(dw)
	for i, v := range x {
		if c.Wants(0) {
			dx[i] = 2 * by * v * w[i%len(w)] * dy[i]
		}
		if c.Wants(1) {
			dw[i%len(w)] += by * v * v * dy[i]
		}
	}
	return nil
}
