package instance

import (
	"reflect"
	"testing"
)

// TestInstances asserts that the instances of a kernel are functions of different types.
func TestInstances(t *testing.T) {
	if len(instances) == 0 {
		t.Error("no kernel")
	}
	for name, list := range instances {
		types := map[reflect.Type]bool{}
		for i := range list {
			f := reflect.TypeOf(Of(name, i))
			if f.Kind() != reflect.Func {
				t.Fatalf("%s: instance %d is a %s", name, i, f)
			}
			types[f] = true
		}
		if len(types) != len(list) {
			t.Errorf("%s: %d instances of %d types", name, len(list), len(types))
		}
	}
}
