package cpu

import "context"

// A generated package declares the shape of each kernel call once. Each call of a method makes a
// copy of it with the extents of its arguments and its context.
//
// Shapes of kernels that may take long have a field Ctx. The kernel checks the context before it
// begins and about once in a millisecond. When the context is done, the kernel ends the call of the
// generated method, as [rt.EndIfDone] does. The results are then undefined. A nil Ctx is never
// done.

// Until returns a copy of s with ctx as its Ctx. A kernel with this shape ends early when ctx is
// done.
func (s AttentionShape) Until(ctx context.Context) *AttentionShape { s.Ctx = ctx; return &s }

// Until returns a copy of s with ctx as its Ctx. A kernel with this shape ends early when ctx is
// done.
func (s ConvShape) Until(ctx context.Context) *ConvShape { s.Ctx = ctx; return &s }

// Until returns a copy of s with ctx as its Ctx. A kernel with this shape ends early when ctx is
// done.
func (s MatMulShape) Until(ctx context.Context) *MatMulShape { s.Ctx = ctx; return &s }

// Until returns a copy of s with ctx as its Ctx. A kernel with this shape ends early when ctx is
// done.
func (s PoolShape) Until(ctx context.Context) *PoolShape { s.Ctx = ctx; return &s }

// Until returns a copy of s with ctx as its Ctx. A kernel with this shape ends early when ctx is
// done.
func (s WinogradShape) Until(ctx context.Context) *WinogradShape { s.Ctx = ctx; return &s }

// For returns a copy of s with batch size n, and with ctx as its Ctx; see Until.
func (s AttentionShape) For(n int, ctx context.Context) *AttentionShape {
	s.Batch, s.Ctx = n, ctx
	return &s
}

// For returns a copy of s with batch size n, and with ctx as its Ctx; see Until.
func (s ConvShape) For(n int, ctx context.Context) *ConvShape {
	s.N, s.Ctx = n, ctx
	return &s
}

// For returns a copy of s with batch size n, and with ctx as its Ctx; see Until.
func (s PoolShape) For(n int, ctx context.Context) *PoolShape {
	s.N, s.Ctx = n, ctx
	return &s
}

// For returns a copy of s with batch size n, and with ctx as its Ctx; see Until.
func (s WinogradShape) For(n int, ctx context.Context) *WinogradShape {
	s.N, s.Ctx = n, ctx
	return &s
}

// For returns a copy of s with n as its Batch, and with ctx as its Ctx; see Until.
func (s MatMulShape) For(n int, ctx context.Context) *MatMulShape {
	s.Batch, s.Ctx = n, ctx
	return &s
}

// Rows returns a copy of s with m as its M, and with ctx as its Ctx; see Until.
func (s MatMulShape) Rows(m int, ctx context.Context) *MatMulShape {
	s.M, s.Ctx = m, ctx
	return &s
}

// Depth returns a copy of s with k as its K and LDA, and with ctx as its Ctx; see Until.
func (s MatMulShape) Depth(k int, ctx context.Context) *MatMulShape {
	s.K, s.LDA, s.Ctx = k, k, ctx
	return &s
}
