package serve

import (
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

type entry struct {
	Model
	options *Options
	meter   *meter

	// held by a load or unload
	loading sync.Mutex
	now     atomic.Pointer[instance]
	why     atomic.Pointer[string] // why the model is not loaded
}

// load loads the model. If the model is already loaded and has a file of weights, load reads the
// weights again. Until the new model or weights are ready, the old ones answer requests.
func (e *entry) load() error {
	e.loading.Lock()
	defer e.loading.Unlock()
	err := e.reload()
	outcome := "ok"
	if err != nil {
		outcome = "failed"
		e.options.Log.Error("load", "model", e.Name, "error", err.Error())
		if e.now.Load() == nil {
			e.because(err.Error())
		}
	} else {
		e.options.Log.Info("load", "model", e.Name, "weights", e.Weights)
	}
	e.meter.swaps.WithLabelValues(e.Name, outcome).Inc()
	return err
}

func (e *entry) reload() error {
	old := e.now.Load()
	if old != nil && e.Weights != "" {
		return swap(old.served, e.Weights)
	}
	served, err := e.Load(e.File)
	if err != nil {
		return err
	}
	if e.Weights != "" {
		if served.Swap == nil {
			return fmt.Errorf("model %q cannot take other weights", e.Name)
		}
		if err := swap(served, e.Weights); err != nil {
			return err
		}
	}
	fresh, err := newInstance(e.Name, served, e.options, e.meter)
	if err != nil {
		return err
	}
	e.now.Store(fresh)
	if old != nil {
		old.close()
	}
	return nil
}

func (e *entry) because(text string) { e.why.Store(&text) }

// unload unloads the model. Requests that wait are still computed.
func (e *entry) unload() {
	e.loading.Lock()
	defer e.loading.Unlock()
	e.because("unloaded")
	if old := e.now.Swap(nil); old != nil {
		old.close()
		e.options.Log.Info("unload", "model", e.Name)
	}
}

func (e *entry) instance() (*instance, error) {
	if i := e.now.Load(); i != nil {
		return i, nil
	}
	return nil, errorf(http.StatusServiceUnavailable, "model %q is not loaded", e.Name)
}
