package optim

import "math"

// Schedule returns the learning rate of a step, counted from 0. It is a pure function, so there is
// no state to save.
type Schedule func(step int) float64

// at returns the rate of a step. A negative step counts as 0; a nil schedule returns 0.
func (s Schedule) at(step int) float64 {
	if s == nil {
		return 0
	}
	return s(max(0, step))
}

// progress returns step/n, clamped to [0, 1].
func progress(step, n int) float64 {
	if step >= n {
		return 1
	}
	return float64(max(0, step)) / float64(n)
}

// wave moves from `from` to `to` along half a cosine wave. part is the position, from 0 to 1.
func wave(from, to, part float64) float64 {
	return to + float64((from-to)*(1+math.Cos(math.Pi*part)))/2
}

// Constant returns a schedule with a constant rate.
func Constant(rate float64) Schedule { return func(int) float64 { return rate } }

// Linear returns a schedule that changes the rate linearly from `first` to `last` in n steps, and
// then keeps it. If n is not above 0, the rate is `last` from step 0 on. PyTorch: LinearLR.
func Linear(first, last float64, n int) Schedule {
	return func(step int) float64 { return first + float64((last-first)*progress(step, n)) }
}

// Cosine returns a schedule that changes the rate from `first` to `last` along half a cosine wave
// in n steps, and then keeps it. If n is not above 0, the rate is `last` from step 0 on
// (Loshchilov, Hutter: SGDR, 2017, without restarts). PyTorch: CosineAnnealingLR, which rises again
// after n steps.
func Cosine(first, last float64, n int) Schedule {
	return func(step int) float64 { return wave(first, last, progress(step, n)) }
}

// Exponential returns a schedule with the rate rate·gamma^step. PyTorch: ExponentialLR.
func Exponential(rate, gamma float64) Schedule {
	return func(step int) float64 { return rate * math.Pow(gamma, float64(max(0, step))) }
}

// Step returns a schedule that multiplies the rate by gamma every n steps, or after each step if n
// is below 1. PyTorch: StepLR.
func Step(rate, gamma float64, n int) Schedule {
	return func(step int) float64 { return rate * math.Pow(gamma, float64(max(0, step)/max(1, n))) }
}

// Noam returns a schedule that raises the rate for n steps and then lowers it with the inverse
// square root of the step. The learning rate of step s, counted from 1, is
// rate·width^(-½)·min(s^(-½), s·n^(-3/2)) (Vaswani and others: Attention is all you need, 2017,
// with rate 1 and the width of the model). A width or n below 1 counts as 1.
func Noam(rate float64, width, n int) Schedule {
	return func(step int) float64 {
		s := float64(max(0, step)) + 1
		return rate / math.Sqrt(float64(max(1, width))) * min(1/math.Sqrt(s), s*math.Pow(float64(max(1, n)), -1.5))
	}
}

// Warmup returns a schedule that first raises the rate linearly in n steps, from s(0)/n to s(0).
// s(0) is the rate of s at step 0. It then follows s from step 0. If n is not above 0, there is no
// warmup.
func Warmup(n int, s Schedule) Schedule {
	return func(step int) float64 {
		if step < n {
			return s.at(0) * progress(step+1, n)
		}
		return s.at(step - max(0, n))
	}
}

// OneCycle returns a schedule of n steps. The first 30 % of them raise the rate from highest/25 to
// highest. The other steps lower it to highest/250,000, where it stays. The rise and the fall each
// follow half a cosine wave (Smith, Topin: Super-convergence, 2018). PyTorch: OneCycleLR with its
// defaults.
func OneCycle(highest float64, n int) Schedule {
	const part, first, last = 0.3, 25, 25 * 1e4
	up := float64(part*float64(n)) - 1
	down := float64(n-1) - up
	return func(step int) float64 {
		if s := float64(max(0, step)); s <= up {
			return wave(highest/first, highest, s/up)
		} else if down > 0 {
			return wave(highest, highest/last, min(1, (s-up)/down))
		}
		return highest / last
	}
}

// Composed returns the product of schedules. Usually one of them is a rate, and the others are
// factors from 0 to 1. Without schedules the rate is always 1.
func Composed(schedules ...Schedule) Schedule {
	return func(step int) float64 {
		rate := 1.0
		for _, s := range schedules {
			rate *= s.at(step)
		}
		return rate
	}
}

// Phase is a schedule with the number of its steps.
type Phase struct {
	Steps int
	Rate  Schedule
}

// Sequential returns a schedule that follows the phases one after the other, each from its own step
// 0. The last one continues forever. A phase with Steps below 1 is skipped, unless it is the last.
// Without phases the rate is 0. PyTorch: SequentialLR.
func Sequential(phases ...Phase) Schedule {
	return func(step int) float64 {
		for i, p := range phases {
			if step < p.Steps || i == len(phases)-1 {
				return p.Rate.at(step)
			}
			step -= max(0, p.Steps)
		}
		return 0
	}
}
