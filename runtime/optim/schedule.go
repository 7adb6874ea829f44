package optim

import "math"

// Schedule returns the rate to learn at in a step, from 0 on. It is a pure function:
// there is nothing to save.
type Schedule func(step int) float64

// at returns the rate in a step, which begins at 0, 0 if there is no schedule.
func (s Schedule) at(step int) float64 {
	if s == nil {
		return 0
	}
	return s(max(0, step))
}

// progress returns which part of n steps is over, at most all of it.
func progress(step, n int) float64 {
	if step >= n {
		return 1
	}
	return float64(max(0, step)) / float64(n)
}

// wave goes from one number to another along half a wave of the cosine.
func wave(from, to, part float64) float64 {
	return to + float64((from-to)*(1+math.Cos(math.Pi*part)))/2
}

// Constant is always the same rate.
func Constant(rate float64) Schedule { return func(int) float64 { return rate } }

// Linear goes from one rate to another in n steps, and stays there. PyTorch: LinearLR.
func Linear(from, to float64, n int) Schedule {
	return func(step int) float64 { return from + float64((to-from)*progress(step, n)) }
}

// Cosine goes from one rate to another along half a wave of the cosine in n steps, and
// stays there (Loshchilov, Hutter: SGDR, 2017, without restarts). PyTorch:
// CosineAnnealingLR, which goes back up after n steps.
func Cosine(from, to float64, n int) Schedule {
	return func(step int) float64 { return wave(from, to, progress(step, n)) }
}

// Exponential is a rate times gamma to the power of the step. PyTorch: ExponentialLR.
func Exponential(rate, gamma float64) Schedule {
	return func(step int) float64 { return rate * math.Pow(gamma, float64(max(0, step))) }
}

// Step is a rate that is multiplied by gamma every n steps. PyTorch: StepLR.
func Step(rate, gamma float64, n int) Schedule {
	return func(step int) float64 { return rate * math.Pow(gamma, float64(max(0, step)/max(1, n))) }
}

// Noam grows in n steps and then falls with the root of the step: rate·width^(-½)·min(s^(-½),
// s·n^(-3/2)) with s from 1 on (Vaswani and others: Attention is all you need, 2017, with
// a rate of 1 and the width of the model).
func Noam(rate float64, width, n int) Schedule {
	return func(step int) float64 {
		s := float64(max(0, step)) + 1
		return rate / math.Sqrt(float64(max(1, width))) * min(1/math.Sqrt(s), s*math.Pow(float64(max(1, n)), -1.5))
	}
}

// Warmup grows to the first rate of a schedule in n steps, from an n-th of it on, and then
// follows the schedule.
func Warmup(n int, s Schedule) Schedule {
	return func(step int) float64 {
		if step < n {
			return s.at(0) * progress(step+1, n)
		}
		return s.at(step - max(0, n))
	}
}

// OneCycle grows from a 25th of the highest rate to it in the first three tenths of n
// steps, and falls to a 250,000th in the others, both along half a wave of the cosine
// (Smith, Topin: Super-convergence, 2018). PyTorch: OneCycleLR with its defaults.
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

// Composed is the product of schedules, of which all but one are ordinarily factors from
// 0 to 1.
func Composed(schedules ...Schedule) Schedule {
	return func(step int) float64 {
		rate := 1.0
		for _, s := range schedules {
			rate *= s.at(step)
		}
		return rate
	}
}

// Phase is a schedule for so many steps.
type Phase struct {
	Steps int
	Rate  Schedule
}

// Sequential follows one schedule after the other, each from its step 0 on; the last
// goes on for ever. PyTorch: SequentialLR.
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
