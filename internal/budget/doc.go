// Package budget decides when a request of a surface may be sent.
//
// Its own requests of a minute and a day stay below the limits, whatever responses say: alone, that uses both windows and gets no 429. Figures
// that its own requests do not explain show others: then it keeps to a part of the minute, evenly, which grows while more of the window is left
// than of its time, and shrinks while less is. An operation of several requests that has begun may send a few before they are due, lest it begins
// again for ever. A 429 holds the surface, and then one request asks. A request without a response keeps its room
// until a figure knows of it. Interactive calls queue before batch calls.
//
// It does not model how the service counts, foresee more than "not before", or bound requests at a time where it knows what is left. Only the
// headers tell the processes of a fleet of each other. A service that weighs its last window is used in part.
package budget
