package rt

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machineMemory returns the memory of the machine, or the limit of the program's control
// group if that is less, in bytes; 0 if neither is known.
func machineMemory() int64 {
	var has int64
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		has = int64(uint64(info.Totalram) * uint64(info.Unit))
	}
	if group := cgroupLimit(os.DirFS("/")); group > 0 && (has <= 0 || group < has) {
		has = group
	}
	return has
}

// cgroupLimit returns the least memory limit of the control groups that the program is
// in, of version 1 or 2, as the file system root has them; 0 for none.
func cgroupLimit(root fs.FS) int64 {
	groups, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return 0
	}
	least := int64(0)
	for line := range strings.Lines(string(groups)) {
		// A line is ID:CONTROLLERS:PATH. Version 2 lists no controllers.
		_, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		var mounts []string
		file := ""
		switch {
		case controllers == "":
			mounts, file = []string{"sys/fs/cgroup", "sys/fs/cgroup/unified"}, "memory.max"
		case slices.Contains(strings.Split(controllers, ","), "memory"):
			mounts, file = []string{"sys/fs/cgroup/memory", "sys/fs/cgroup/" + controllers}, "memory.limit_in_bytes"
		}
		for _, mount := range mounts {
			// Each group is bound by those above it. A container may see the path of
			// its group on the host, and only the group itself, as the root.
			for at := path.Clean("/" + group); ; at = path.Dir(at) {
				text, _ := fs.ReadFile(root, path.Join(mount, at, file))
				if n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && n > 0 {
					least = min(cmp.Or(least, n), n)
				}
				if at == "/" {
					break
				}
			}
		}
	}
	return least
}
