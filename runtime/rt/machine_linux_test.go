package rt

import (
	"testing"
	"testing/fstest"
)

func TestCgroupLimit(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	for name, tt := range map[string]struct {
		files fstest.MapFS
		want  int64
	}{
		"no groups": {fstest.MapFS{}, 0},
		"version 2": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("4096\n"),
		}, 4096},
		"version 2 without a limit": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a\n"), "sys/fs/cgroup/a/memory.max": file("max\n"),
		}, 0},
		"a group above has less": {fstest.MapFS{
			"proc/self/cgroup": file("0::/a/b\n"), "sys/fs/cgroup/a/b/memory.max": file("4096\n"), "sys/fs/cgroup/a/memory.max": file("1024\n"),
		}, 1024},
		"a container that is the root": {fstest.MapFS{
			"proc/self/cgroup": file("0::/\n"), "sys/fs/cgroup/memory.max": file("2048\n"),
		}, 2048},
		"version 1": {fstest.MapFS{
			"proc/self/cgroup": file("5:devices:/x\n4:memory:/a/b\n0::/\n"), "sys/fs/cgroup/memory/a/memory.limit_in_bytes": file("512\n"), "sys/fs/cgroup/devices/x/memory.limit_in_bytes": file("1\n"),
		}, 512},
		"version 1 in a container that sees the host's path": {fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/docker/0123\n"), "sys/fs/cgroup/memory/memory.limit_in_bytes": file("512\n"),
		}, 512},
		"controllers that are mounted together": {fstest.MapFS{
			"proc/self/cgroup": file("4:cpu,memory:/a\n"), "sys/fs/cgroup/cpu,memory/a/memory.limit_in_bytes": file("256\n"),
		}, 256},
		"both versions": {fstest.MapFS{
			"proc/self/cgroup": file("4:memory:/a\n0::/b\n"), "sys/fs/cgroup/memory/a/memory.limit_in_bytes": file("9223372036854771712\n"), "sys/fs/cgroup/unified/b/memory.max": file("128\n"),
		}, 128},
		"what is not a group": {fstest.MapFS{
			"proc/self/cgroup": file("\n::\nmemory\n4:memory:../../etc\n0::\n"), "sys/fs/cgroup/memory.max": file("x\n"),
		}, 0},
	} {
		if got := cgroupLimit(tt.files); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}
