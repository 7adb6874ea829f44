// Package dash shows a run of training in the terminal: progress, curves, metrics, and a log.
//
// [Terminal] is a renderer for the program that trains. [Watch] shows the run of another program
// from its folder; package web shows it in a browser. A dashboard does not change the numbers of a
// run. In [Terminal] the user can pause or end the run, or save a checkpoint.
package dash
