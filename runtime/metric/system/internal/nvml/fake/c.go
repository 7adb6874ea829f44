//go:build linux && !android && (amd64 || arm64)

package fake

import (
	"reflect"

	"github.com/ebitengine/purego"

	"github.com/burngen/burngen/runtime/metric/system/internal/nvml"
)

// ThroughC returns functions that call the functions of api through C's calling convention.
func ThroughC(api *nvml.API) (*nvml.API, error) {
	address := map[string]uintptr{}
	for _, f := range api.Functions() {
		address[f.Name] = purego.NewCallback(reflect.ValueOf(f.Go).Elem().Interface())
	}
	return nvml.Bind(func(name string) (uintptr, error) { return address[name], nil })
}
