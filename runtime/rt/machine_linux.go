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

// machineMemory returns the memory of the machine in bytes, or the limit of the program's control
// group if that is smaller. It returns 0 if both are unknown.
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

// cgroupLimit returns the smallest memory limit of the program's control groups and of their
// ancestors, in bytes. It reads control groups of version 1 and 2. It returns 0 if there is no
// limit. root is the root directory of the system.
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
			// A group is also bound by its ancestors. The path in a container may be the group's
			// path on the host, although only the group itself is visible, as the root.
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
