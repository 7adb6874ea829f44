package rt

// Mirror is a device with copies of vectors of f32, on which training changes them. It knows in which
// memory the elements of a vector are valid, and copies them before they are used in the other.
// Slices of the vectors stand for their copies.
type Mirror interface {
	// Hold makes room for a copy of each vector. It returns an error if the device has too little memory.
	Hold(vectors ...[]float32) error
	// Drop gives the copies back.
	Drop(vectors ...[]float32) error
	// ToHost makes vectors valid in the memory of the host, which may change them then.
	ToHost(vectors ...[]float32) error
	// Assign copies elements on the device.
	Assign(to, from []float32) error
	// Update changes vectors of equal length by a rule with these numbers. The vectors start at
	// multiples of 16 elements of what Hold was called for, and as many elements as complete a multiple
	// of 4 are padding.
	Update(rule string, numbers []float32, vectors ...[]float32) error
	// Squares returns the sum of the squares of elements.
	Squares(x []float32) (float64, error)
}

// Mirror returns the device that trains the parameters, or nil if that is the host.
func (p *Params) Mirror() Mirror {
	if p == nil || p.all == nil {
		return nil
	}
	return p.all.mirror
}

// Vectors returns the vectors that Data and Grad are, wherever their elements are valid, for calls of a
// [Mirror].
func (p *Params) Vectors() (data, grad []float32) { return p.all.data, p.all.grad }

// Stay makes the parameters stay on the device between calls, because an optimizer changes them there.
// Data and Grad are nil from the next call to the next [Params.Fetch]. The function that it returns
// undoes it.
func (p *Params) Stay() (leave func()) {
	all := p.all
	all.staying++
	return func() { all.staying-- }
}

// Fetch makes Data and Grad hold the elements in the memory of the host, which may change them, until a
// trainer or an optimizer next works on the device. It returns the device's error. Without a device
// there is nothing to do.
func (p *Params) Fetch() error {
	if p == nil || p.all == nil {
		return nil
	}
	return p.all.toHost()
}

// Took says that the device has changed the parameters.
func (p *Params) Took() { p.all.toDevice() }

// toHost makes the parameters and gradients valid in the memory of the host.
func (all *parameters) toHost() error {
	if all.mirror == nil {
		return nil
	}
	if err := all.mirror.ToHost(all.data, all.grad); err != nil {
		return all.fail(err)
	}
	all.away = false
	all.show(all.data, all.grad)
	return nil
}

// toDevice hides the vectors while the device changes them.
func (all *parameters) toDevice() {
	if !all.away {
		all.away = true
		all.show(nil, nil)
	}
}

// settle ends a call that may have used the copies of the device.
func (all *parameters) settle() error {
	if all.mirror == nil {
		return nil
	}
	if all.staying > 0 {
		all.toDevice()
		return nil
	}
	return all.toHost()
}

// fail keeps the first error of the device, which [Params.Err] returns.
func (all *parameters) fail(err error) error {
	if all.failed == nil {
		all.failed = err
	}
	return err
}

// show sets the fields of all views.
func (all *parameters) show(data, grad []float32) {
	live := all.views[:0]
	for _, view := range all.views {
		if p := view.Value(); p != nil {
			p.Data, p.Grad = data, grad
			live = append(live, view)
		}
	}
	clear(all.views[len(live):])
	all.views = live
}

// update changes vectors on the device by a rule, see [Mirror].
func (all *parameters) update(rule string, numbers []float32, vectors ...[]float32) error {
	if err := all.mirror.Update(rule, numbers, vectors...); err != nil {
		return all.fail(err)
	}
	return nil
}

// assign copies elements, on the device if there is one.
func (all *parameters) assign(to, from []float32) error {
	if all.mirror == nil {
		copy(to, from)
		return nil
	}
	if err := all.mirror.Assign(to, from); err != nil {
		return all.fail(err)
	}
	return nil
}

// spans calls f with the ranges of elements of the parameters for which want is true. Adjacent parameters
// are one range: there is only padding, which is 0, between them.
func (p *Params) spans(want func(all *parameters, i int) bool, f func(all *parameters, from, to int)) {
	from, to := 0, 0
	p.each(func(all *parameters, i int) {
		if !want(all, i) || all.size[i] == 0 {
			return
		}
		if off := all.items[i].Off; off != padded(to) || from == to {
			if from < to {
				f(all, from, to)
			}
			from = off
		}
		to = all.items[i].Off + all.size[i]
	})
	if from < to {
		f(p.all, from, to)
	}
}

// padded returns the element at which a parameter after one that ends at an element begins.
func padded(end int) int { return (end + 15) / 16 * 16 }
