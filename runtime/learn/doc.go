// Package learn trains the models of generated packages: it runs epochs, measures, saves, stops and
// shows.
//
// A run tells what happens by [Event]s. Renderers and loggers get the events in order, and the
// folder of a run keeps them in a file, from which pictures are made later.
package learn
