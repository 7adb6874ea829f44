package gen

import "testing"

func TestPackageName(t *testing.T) {
	for _, c := range []struct{ dir, want string }{
		{"resnet", "resnet"},
		{"a/b/ResNet-50", "resnet50"},
		{"50-layers", "model50layers"},
		{"_private_", "private"},
		{"net_test", "net"},
		{"été", "t"},
		{"模型", "model"},
		{"func", "funcmodel"},
		{"main", "mainmodel"},
		{"init", "initmodel"},
		{"/", "model"},
	} {
		got, err := PackageName(c.dir)
		if err != nil || got != c.want || !CanName(got) {
			t.Errorf("%s: package %q, error %v, want %q", c.dir, got, err, c.want)
		}
	}
	for _, name := range []string{"", "_", "main", "init", "1st", "a-b", "type", "net_test"} {
		if CanName(name) {
			t.Errorf("%q names a package", name)
		}
	}
}
