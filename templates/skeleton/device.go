//lint:file-ignore U1000 the generator uses what is not used here

package skeleton

import (
	"github.com/burngen/burngen/runtime/gpu"
	"github.com/burngen/burngen/runtime/rt"
)

// Device returns the device of the model, for [gpu.NewTensor].
func (m *Model) Device() *gpu.Instance {
	if m == nil {
		return nil
	}
	return instance_
}

// MethodDevice_ is like Method_ for tensors in the memory of the model's device, which it does not
// copy. dst has the shape of the result.
func (s *Session) MethodDevice_(dst Target_, param_ Param_) error {
	if s == nil {
		return rt.ErrNoSession
	}
	views := gpu.ViewsOn(run_, where_)
	defer views.Done()
	fields_()
	if err := views.Err(); err != nil {
		return err
	}
	return s.Method_(target_, param_)
}

// MethodDeviceDynamic_ is like Method_ for tensors in the memory of the model's device, which it does
// not copy. dst has the shape of the result.
func (s *Session) MethodDeviceDynamic_(dst Target_, param_ Param_) error {
	if s == nil {
		return rt.ErrNoSession
	}
	views := gpu.ViewsOn(run_, where_)
	defer views.Done()
	fields_()
	if err := views.Err(); err != nil {
		return err
	}
	if err := s.Method_(target_, param_); err != nil {
		return err
	}
	checks_()
	return views.Err()
}
