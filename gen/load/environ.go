package load

import (
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// targets lists the environment variables that select the target of the go command.
var targets = strings.Fields("GOOS GOARCH GOARM GOARM64 GOAMD64 GO386 GOMIPS GOMIPS64 GOPPC64 GORISCV64 GOWASM GOEXPERIMENT")

// hostEnv returns the environment of this program, changed so that the go command in dir builds for this machine.
// Variables that select another target are left out or replaced. hostEnv returns an error if the go command does not
// run.
func hostEnv(dir string) ([]string, error) {
	var env []string
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); !slices.Contains(targets, name) {
			env = append(env, kv)
		}
	}
	env = append(env, "PWD="+dir, "GOPACKAGESDRIVER=off")
	// Environment variables override settings of "go env -w".
	c := exec.Command("go", "env", "GOHOSTOS", "GOHOSTARCH")
	c.Dir, c.Env = dir, env
	out, err := c.Output()
	host := strings.Fields(string(out))
	if err != nil || len(host) != 2 {
		return nil, fmt.Errorf("go env: a Go toolchain is needed to read descriptions: %v", err)
	}
	return append(env, "GOOS="+host[0], "GOARCH="+host[1]), nil
}
