package skeleton

import "github.com/burngen/burngen/runtime/rt"

// doc_
func (t *Trainer) Method_(param_ Param_) (dst Result_, err error) {
	call, err := rt.EnterTraining(t, method_, passed_)
	if err != nil {
		return dst, err
	}
	defer call.Leave(&err)
	checks_()
	err = t.schedule_(call, param_)
	return result_, err
}

// Backward takes the gradients of a loss with respect to the results of the last call, which must
// be a call of Method_. It adds the gradients with respect to the parameters to the gradients in
// Params. It updates running statistics once.
func (t *Trainer) Backward(param_ Param_) (err error) {
	call, err := rt.EnterBackward(t, method_, passed_)
	if err != nil {
		return err
	}
	defer call.Leave(&err)
	checks_()
	return t.schedule_(call, param_)
}
