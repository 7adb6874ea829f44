// Package fused has the custom operator of the example spirals, which trains a network. The operator computes max(x·w
// + b, 0) in one pass over memory, and the gradients of x, w and b.
package fused

import "github.com/burngen/burngen/runtime/rt"

// MatMulAddReLU computes the operator acme.FusedMatMulAddReLU, (f32[N,K], f32[K,M], f32[M]) ->
// f32[N,M]: max(x·w + b, 0). It computes four rows at a time, so that a row of w is read once for
// all of them.
func MatMulAddReLU(c *rt.Call) error {
	x, w, b := rt.Data[float32](c.In[0]), rt.Data[float32](c.In[1]), rt.Data[float32](c.In[2])
	y := rt.Data[float32](c.Out[0])
	n, k, m := c.In[0].Dim(0), c.In[0].Dim(1), c.In[1].Dim(1)
	if err := c.Err(); err != nil {
		return err
	}
	for i := 0; i < n; i += 4 {
		rows := min(4, n-i)
		for r := range rows {
			copy(y[(i+r)*m:], b)
		}
		for l := range k {
			from := w[l*m : (l+1)*m]
			for r := range rows {
				axpy(y[(i+r)*m:][:m], x[(i+r)*k+l], from)
			}
		}
		for p := i * m; p < (i+rows)*m; p++ {
			y[p] = max(y[p], 0)
		}
	}
	return nil
}

// MatMulAddReLUGrad computes the gradients of x, w and b. Its operands are x, w, b, the result y
// and the gradient dy. The gradient of x·w + b is dy where y is positive, and 0 elsewhere.
func MatMulAddReLUGrad(c *rt.Call) error {
	x, w := rt.Data[float32](c.In[0]), rt.Data[float32](c.In[1])
	y, dy := rt.Data[float32](c.In[3]), rt.Data[float32](c.In[4])
	dx, dw, db := rt.Data[float32](c.Out[0]), rt.Data[float32](c.Out[1]), rt.Data[float32](c.Out[2])
	n, k, m := c.In[0].Dim(0), c.In[0].Dim(1), c.In[1].Dim(1)
	if err := c.Err(); err != nil {
		return err
	}
	wantX, wantW := c.Wants(0), c.Wants(1)
	clear(dx)
	clear(dw)
	clear(db)
	for i := range n {
		for j := range m {
			if y[i*m+j] <= 0 {
				continue
			}
			g := dy[i*m+j]
			db[j] += g
			if wantX {
				for l := range k {
					dx[i*k+l] += g * w[l*m+j]
				}
			}
			if wantW {
				for l := range k {
					dw[l*m+j] += g * x[i*k+l]
				}
			}
		}
	}
	return nil
}

func axpy(y []float32, a float32, x []float32) {
	for j := range y {
		y[j] += a * x[j]
	}
}
