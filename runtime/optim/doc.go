// Package optim trains: optimizers, which turn gradients into better parameters, and
// schedules of the rate they learn at. An optimizer is bound once to [rt.Params], or to a
// view of some of them, and allocates what it remembers then. A step allocates nothing,
// is shared by the threads that [rt.Threads] allows, and has the same bits with any
// number of them, and on every machine, but for [Muon]. Groups of parameters are several
// optimizers over disjoint views, each with its own rate.
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
// A parameter whose gradient is not there is left as it is: nothing decays, and no step
// is counted for it.
//
// In a configuration 0 stands for the default, which is PyTorch's, and [Zero] for zero.
// Optimizers are [rt.Stater]s: what they remember is saved with [rt.SaveState], under
// PyTorch's names, and an optimizer made with the same configuration and loaded goes on
// as if nothing had happened, bit for bit.
//
// The package knows parameters and gradients; it does not know models, losses and data.
package optim
