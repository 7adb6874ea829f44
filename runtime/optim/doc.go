// Package optim contains optimizers, which update parameters with gradients, and schedules of
// learning rates. An optimizer is bound once to [rt.Params] or a subset of them. It then allocates
// its state. A step on the host does not allocate. It uses the threads that [rt.Threads] allows.
// Its result is the same, bit for bit, for any number of threads. It is also the same on every
// machine, except with [Muon]. To have parameter groups, use several optimizers over disjoint
// subsets, each with its own rate.
//
//	head, err := optim.NewAdam(t.Params().Match("head"), optim.AdamConfig{})
//	body, err := optim.NewSGD(t.Params().Except("head"), optim.SGDConfig{Momentum: 0.9})
//	rate := optim.Warmup(100, optim.Cosine(1e-3, 1e-5, steps))
//	for step := range steps {
//		_, err := t.Step(x, y)      // adds to the gradients
//		err = head.Step(rate(step)) // uses them up
//		err = body.Step(0.1 * rate(step))
//	}
//
// A parameter without a gradient does not change: its weight does not decay, and its number of
// steps does not rise.
//
// In a configuration 0 means the default, which is PyTorch's; [Zero] means zero. Optimizers are
// [rt.Stater]s: [rt.SaveState] saves their state under PyTorch's names. An optimizer with the same
// configuration continues from a loaded state bit for bit.
//
// The package knows parameters and gradients, but not models, losses and data.
package optim
