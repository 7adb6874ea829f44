// Build builds the program that trains in a browser.
//
//	go run ./train/build [-o FOLDER]
//
// It writes the program, main.wasm, and the script that starts it, wasm_exec.js, which belongs to the Go toolchain.
package main

import (
	"flag"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("build: ")
	dir := flag.String("o", "train/model", "writes to `FOLDER`")
	flag.Parse()
	check(os.MkdirAll(*dir, 0o777))
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(*dir, "main.wasm"), "github.com/burngen/burngen/examples/web/train/program")
	build.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm")
	build.Stderr = os.Stderr
	check(build.Run())
	root, err := exec.Command("go", "env", "GOROOT").Output()
	check(err)
	script, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	check(err)
	check(os.WriteFile(filepath.Join(*dir, "wasm_exec.js"), script, 0o666))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
