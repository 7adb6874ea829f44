package rt

// Mirror is a device that holds copies of f32 vectors and changes them in training. For each vector it knows whether
// the elements in host memory or on the device are current. Before one side uses elements that are current only on
// the other side, the Mirror copies them. Methods take slices of vectors in host memory; such a slice identifies the
// same part of the copy on the device.
type Mirror interface {
	// Hold allocates memory for a copy of each vector. It returns an error if the device has too little
	// memory.
	Hold(vectors ...[]float32) error
	// Drop frees the copies of vectors.
	Drop(vectors ...[]float32) error
	// ToHost copies vectors to host memory if the device has changed them. The host may change them
	// afterwards.
	ToHost(vectors ...[]float32) error
	// Assign copies src to dst, which has the same length, on the device.
	Assign(dst, src []float32) error
	// Update changes vectors of equal length. rule is the name of an update, such as "adam", and
	// numbers are its constants. Each vector is a part of a vector that was passed to Hold, and
	// starts at a multiple of 16 elements. If the length is not a multiple of 4, Update may also
	// change the elements up to the next multiple.
	Update(rule string, numbers []float32, vectors ...[]float32) error
	// Squares returns the sum of the squares of the elements of x.
	Squares(x []float32) (float64, error)
}

// Mirror returns the device that trains the parameters, or nil if that is the host.
func (p *Params) Mirror() Mirror {
	if p == nil || p.all == nil {
		return nil
	}
	return p.all.mirror
}

// Vectors returns two vectors: the elements of all parameters and the elements of their gradients. Pass
// them to a [Mirror]. Unlike the fields Data and Grad, they are not nil while the device changes the
// elements.
func (p *Params) Vectors() (data, grad []float32) { return p.all.data, p.all.grad }

// Stay keeps the parameters on the device between calls, for an optimizer that changes them there. Each
// later call of a trainer on a device sets Data and Grad to nil, and [Params.Fetch] sets them again. Call
// `leave` to undo Stay.
func (p *Params) Stay() (leave func()) {
	all := p.all
	all.staying++
	return func() { all.staying-- }
}

// Fetch copies the parameters and gradients from the device to Data and Grad. The caller may then read
// and change them until the next use of a trainer or an optimizer on the device. Fetch returns the
// device's error. Without a device it does nothing.
func (p *Params) Fetch() error {
	if p == nil || p.all == nil {
		return nil
	}
	return p.all.toHost()
}

// Took records that the device has changed the parameters. Data and Grad are nil until the next
// [Params.Fetch].
func (p *Params) Took() { p.all.toDevice() }

// toHost copies the parameters and gradients to host memory if the device has changed them, and sets Data
// and Grad.
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

// toDevice records that only the device has the current elements. It sets Data and Grad to nil.
func (all *parameters) toDevice() {
	if !all.away {
		all.away = true
		all.show(nil, nil)
	}
}

// settle ends a call that may have used the copies on the device. It copies the elements to the host,
// unless an optimizer changes them on the device.
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

// fail stores err as the error that [Params.Err] returns, unless an earlier one is stored. It
// returns err.
func (all *parameters) fail(err error) error {
	if all.failed == nil {
		all.failed = err
	}
	return err
}

// show sets Data and Grad of all Params that share this state.
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

// update applies a rule to vectors on the device, see [Mirror].
func (all *parameters) update(rule string, numbers []float32, vectors ...[]float32) error {
	if err := all.mirror.Update(rule, numbers, vectors...); err != nil {
		return all.fail(err)
	}
	return nil
}

// assign copies the vector `from` to the vector `to`, on the device if the parameters have one.
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

// spans calls f with the index ranges [from, to) of the parameters for which `want` returns true.
// Adjacent parameters form one range, which includes the zero padding between them.
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

// padded rounds `end`, the index after the last element of a parameter, up to the first index of the next
// parameter.
func padded(end int) int { return (end + 15) / 16 * 16 }
