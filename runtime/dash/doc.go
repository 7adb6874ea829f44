// Package dash shows a run of training in the terminal: progress, curves, metrics, and a log.
//
// [Terminal] is a renderer for the program that trains. [Watch] shows the run of another program from
// its folder; package web shows it in a browser. A dashboard only reads: a run is the same with it and
// without it.
package dash
