// Cases writes the arguments for a comparison of burngen with ONNX Runtime, and compares the
// outputs of both.
//
//	cases inputs [-batch N] [-dim NAME=N ...] [-draw N] MODEL.onnx FILE
//	cases judge [-accuracy] MODEL.onnx INPUTS WANT GOT
//
// The files have the format of package tensors. Both commands print a JSON object.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("cases: ")
	if len(os.Args) < 2 {
		log.Fatal("want a command: inputs or judge")
	}
	var result any
	var err error
	switch name, args := os.Args[1], os.Args[2:]; name {
	case "inputs":
		result, err = inputs(args)
	case "judge":
		result, err = judge(args)
	default:
		err = fmt.Errorf("unknown command %q", name)
	}
	if err != nil {
		log.Fatal(err)
	}
	if err := json.NewEncoder(os.Stdout).Encode(result); err != nil {
		log.Fatal(err)
	}
}

// files parses the flags of a command and returns its other arguments. It returns an error if their number is not n.
func files(flags *flag.FlagSet, args []string, n int) ([]string, error) {
	if err := flags.Parse(args); err != nil {
		return nil, err
	}
	if flags.NArg() != n {
		return nil, errors.New("wrong number of arguments")
	}
	return flags.Args(), nil
}
