//go:build linux && !android && (amd64 || arm64)

package fake

import (
	"reflect"
	"strings"

	"github.com/ebitengine/purego"

	"github.com/burngen/burngen/runtime/cuda/internal/libcuda"
)

// throughC returns functions that call the functions of api. The calls go through C's calling
// convention.
func throughC(api *libcuda.API) (*libcuda.API, error) {
	address := map[string]uintptr{}
	fields := reflect.ValueOf(api).Elem()
	for i := range fields.NumField() {
		name, _, _ := strings.Cut(fields.Type().Field(i).Tag.Get("c"), ",")
		if fields.Field(i).IsNil() {
			continue
		}
		address[name] = purego.NewCallback(fields.Field(i).Interface())
	}
	return libcuda.Bind(func(name string) (uintptr, error) { return address[name], nil })
}
