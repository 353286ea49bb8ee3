// Package load puts whole user sessions on a service, at a rate that the service cannot slow
// down.
//
// A tool that waits for an answer before it asks again goes easy on a service exactly while the
// service stalls, and then prints a tail that no user had. Here the time of every arrival is fixed
// before the first one, and an answer counts from the moment at which its request was due:
//
//	response = lag + waiting + service
//
// Lag is what the generator itself was late by. Waiting is for a free connection, or for a new
// one. Service is from then until the whole answer is there. The three are recorded apart, so that
// a [Result] shows how much of its tail the generator made.
//
// A [Scenario] says what a session does and when sessions begin. Package scenariofile reads one
// from a YAML or JSON file, a URL is one of a single request, and a program of your own has a
// [Step] that does what it likes:
//
//	load.Run(ctx, scenario, options) // in a test
//	command.Main(scenario)           // a command with all flags of dewload
//
// Package load/report writes a [Result] for people, and load/command is what commands have. Command
// instruments/cmd/dewload runs URLs and files.
package load
