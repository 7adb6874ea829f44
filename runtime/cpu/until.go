package cpu

import "context"

// Shapes of kernels that may take long have a field Ctx: the kernel looks at it before it
// begins and about once in a millisecond, and ends the call of the generated method when
// it is done, as [rt.EndIfDone] does. What it has written then is undefined. A nil Ctx never
// is done.

// Until returns s with a context.
func (s AttentionShape) Until(ctx context.Context) *AttentionShape { s.Ctx = ctx; return &s }

// Until returns s with a context.
func (s ConvShape) Until(ctx context.Context) *ConvShape { s.Ctx = ctx; return &s }

// Until returns s with a context.
func (s MatMulShape) Until(ctx context.Context) *MatMulShape { s.Ctx = ctx; return &s }

// Until returns s with a context.
func (s PoolShape) Until(ctx context.Context) *PoolShape { s.Ctx = ctx; return &s }

// Until returns s with a context.
func (s WinogradShape) Until(ctx context.Context) *WinogradShape { s.Ctx = ctx; return &s }
